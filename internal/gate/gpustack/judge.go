package gpustack

import (
	"fmt"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/probe/kube"
)

// Judge implements check.Check.
func (g *Gate) Judge(obs []check.Observation) check.Judgement {
	if len(g.nodes) == 0 {
		return check.NotObserved("the site's inventory has no GPU nodes")
	}
	b, remark := &check.Builder{}, ""
	if operator, o, ok := check.Require[[]operatorFigures](b, obs, kindOperator, "", "the operator's Deployment", readRemedy(obs, kindOperator)); ok {
		g.judgeOperator(b, o, operator)
	}
	if policy, o, ok := check.Require[policyFigures](b, obs, kindPolicy, "", "ClusterPolicy "+g.stack.ClusterPolicy, readRemedy(obs, kindPolicy)); ok {
		remark = g.judgePolicy(b, o, policy)
	}
	if nodes, o, ok := check.Require[[]nodeFigures](b, obs, KindNodes, "", "the nodes", readRemedy(obs, KindNodes)); ok {
		g.judgeNodes(b, o, nodes)
	}
	if operands, o, ok := check.Require[[]operandFigures](b, obs, kindOperands, "", "the operator's DaemonSets", readRemedy(obs, kindOperands)); ok {
		g.judgeOperands(b, o, operands)
	}
	gang := g.judgeGang(b, obs)
	resources := kube.GPUResource
	if g.judgesNetwork() {
		resources += " and " + g.network
	}
	return b.Judgement(fmt.Sprintf("ClusterPolicy reconciled; %s of %d nodes allocatable; a gang of %d pods was placed, a larger one was not%s", resources, len(g.nodes), gang, remark))
}

// readRemedy is the remedy for a kind of observation that is missing or failed.
func readRemedy(obs []check.Observation, kind string) string {
	for _, o := range check.OfKind(obs, kind) {
		if o.Forbidden() {
			return "give the user of this kubeconfig the permissions that firstlight's RBAC lists"
		}
	}
	return "make the API server reachable with this kubeconfig, then run the gate again"
}
