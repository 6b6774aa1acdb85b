package gpustack

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/firstlight/firstlight/internal/check"
)

// Judge implements check.Check.
func (g *Gate) Judge(obs []check.Observation) check.Judgement {
	if len(g.nodes) == 0 {
		return check.NotObserved("the site's inventory has no GPU nodes")
	}
	b, remark, stack, sets := &check.Builder{}, "", "", "the operator's DaemonSets"
	nodes, distributions := g.judgeDistribution(b, obs)
	if g.stack.Provided() {
		g.judgePolicies(b, obs)
	} else {
		kind, _ := g.stack.Policy()
		stack = kind + " reconciled"
		remark = g.judgeOperated(b, obs, nodes)
	}
	remark += distributions + g.judgePackaged(b, obs)
	if figures, o, ok := check.Require[[]nodeFigures](b, obs, KindNodes, "", "the nodes", readRemedy(obs, KindNodes)); ok {
		g.judgeNodes(b, o, figures, nodes)
	}
	if g.dra() {
		if found, o, ok := check.Require[[]sliceFigures](b, obs, kindSlices, "", "the ResourceSlices", readRemedy(obs, kindSlices)); ok {
			g.judgeSlices(b, o, found)
		}
		g.judgeClass(b, obs)
	}
	switch {
	case g.builtIn():
		stack = "the provider's device plugin is a part of the nodes: its pods were not observed"
	case g.stack.Provided():
		sets = "the provider's DaemonSets"
		stack = sets + " are complete"
		fallthrough
	default:
		if operands, o, ok := check.Require[[]operandFigures](b, obs, kindOperands, "", sets, readRemedy(obs, kindOperands)); ok {
			g.judgeOperands(b, o, operands)
		}
	}
	g.judgePlugins(b, obs)
	g.judgeDriverPods(b, obs)
	gang := g.judgeGang(b, obs)
	resources := strings.Join(slices.DeleteFunc(slices.Sorted(maps.Keys(g.resources)), func(name string) bool { return g.resources[name] == 0 }), ", ")
	if g.dra() {
		resources = g.stack.DeviceClass
	}
	if g.judgesNetwork() {
		resources += " and " + g.network
	}
	return b.Judgement(fmt.Sprintf("%s; %s of %d nodes allocatable; a gang of %d pods was placed, a larger one was not%s", stack, resources, len(g.nodes), gang, remark))
}

// judgeOperated requires the GPU Operator and its policy.
func (g *Gate) judgeOperated(b *check.Builder, obs []check.Observation, nodes map[string]installed) (remark string) {
	operator, o, ok := check.Require[[]operatorFigures](b, obs, kindOperator, "", "the operator's Deployment", readRemedy(obs, kindOperator))
	if ok {
		g.judgeOperator(b, o, operator)
	}
	kind, name := g.stack.Policy()
	if policy, o, ok := check.Require[policyFigures](b, obs, kindPolicy, "", kind+" "+name, readRemedy(obs, kindPolicy)); ok {
		remark = g.judgePolicy(b, o, policy)
		if g.stack.GPUCluster != "" {
			return remark + g.judgeDriversOfCluster(b, obs)
		}
		remark += g.judgeToolkit(b, o, policy.Toolkit, operator, nodes)
		if policy.DriverCRD {
			if drivers, o, ok := check.Require[driverFigures](b, obs, kindDrivers, "", "the NVIDIADrivers", readRemedy(obs, kindDrivers)); ok {
				g.judgeDrivers(b, o, drivers)
			}
		}
	}
	return remark
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
