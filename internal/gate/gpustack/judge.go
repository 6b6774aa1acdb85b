package gpustack

import (
	"fmt"

	"github.com/firstlight/firstlight/internal/check"
)

// Judge implements check.Check.
func (g *Gate) Judge(obs []check.Observation) check.Judgement {
	if len(g.nodes) == 0 {
		return check.NotObserved("the site's inventory has no GPU nodes")
	}
	b, remark := &check.Builder{}, ""
	if policy, o, ok := check.Require[policyFigures](b, obs, kindPolicy, "", "ClusterPolicy "+g.stack.ClusterPolicy, readRemedy(obs, kindPolicy)); ok {
		remark = g.judgePolicy(b, o, policy)
	}
	if nodes, o, ok := check.Require[[]nodeFigures](b, obs, KindNodes, "", "the nodes", readRemedy(obs, KindNodes)); ok {
		g.judgeNodes(b, o, nodes)
	}
	if operands, o, ok := check.Require[[]operandFigures](b, obs, kindOperands, "", "the operator's DaemonSets", readRemedy(obs, kindOperands)); ok {
		g.judgeOperands(b, o, operands)
	}
	g.judgeGang(b, obs)
	return b.Judgement(fmt.Sprintf("ClusterPolicy reconciled, all resources of %d nodes allocatable, gang scheduler proven%s", len(g.nodes), remark))
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
