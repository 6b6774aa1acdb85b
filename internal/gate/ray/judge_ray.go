package ray

import (
	"cmp"
	"slices"

	"github.com/firstlight/firstlight/internal/check"
	probe "github.com/firstlight/firstlight/internal/probe/ray"
)

// nodesByID are the nodes of the inventory by the ID of their raylet.
func (g *Gate) nodesByID(obs []check.Observation) map[string]string {
	var b check.Builder
	nodes, _, _ := check.Require[[]probe.Node](&b, obs, kindNodes, "", "", "")
	pods, _, _ := check.Require[[]podFigures](&b, obs, kindPods, "", "", "")
	out := map[string]string{}
	for _, n := range nodes {
		for _, p := range pods {
			if n.State == probe.Alive && p.Address == n.Address && p.Head == n.Head && p.GPUs > 0 && !p.Terminating {
				out[n.ID] = p.Node
			}
		}
	}
	return out
}

// judgeRestarts requires exactly the pods that existed before, with no restart in between.
func (g *Gate) judgeRestarts(b *check.Builder, obs []check.Observation) {
	if !b.Clean() { // the pods were not read again
		return
	}
	before, _, _ := check.Require[[]podFigures](b, obs, kindPods, "", "the pods of RayCluster "+g.ref(), remedyAPI)
	after, o, ok := check.Require[[]podFigures](b, obs, kindAfter, "", "the pods after the placement groups", remedyAPI)
	if !ok {
		return
	}
	cluster, _, _ := check.Require[clusterFigures](b, obs, kindCluster, "", "RayCluster "+g.ref(), remedyAPI)
	before, after = fixed(before, cluster), fixed(after, cluster)
	for _, was := range before {
		suspect := g.suspectOf(was)
		i := slices.IndexFunc(after, func(p podFigures) bool { return p.UID == was.UID })
		switch {
		case i < 0:
			b.Fail(o.ID, suspect, remedyPod, "pod %s was replaced during the gate", was.Name)
		case after[i].Restarts != was.Restarts || !after[i].Ready:
			b.Fail(o.ID, suspect, remedyPod, "pod %s restarted during the gate (%d restarts, before %d), ready %t", was.Name, after[i].Restarts, was.Restarts, after[i].Ready)
		}
	}
	for _, p := range after {
		if !slices.ContainsFunc(before, func(was podFigures) bool { return was.UID == p.UID }) {
			b.Fail(o.ID, g.suspectOf(p), remedyPod, "pod %s was created during the gate", p.Name)
		}
	}
}

// fixed are the live pods that must remain: workers without GPUs come and go where the autoscaler changes their number.
func fixed(pods []podFigures, c clusterFigures) []podFigures {
	scales := slices.ContainsFunc(c.Groups, func(one group) bool { return one.Scales && !one.GPUs })
	return slices.DeleteFunc(live(pods), func(p podFigures) bool { return scales && !p.Head && p.GPUs == 0 })
}

// suspectOf is the suspect of a pod's fault: the head, or the node of a worker.
func (g *Gate) suspectOf(p podFigures) string {
	if p.Head {
		return "head of RayCluster " + g.ref()
	}
	return cmp.Or(p.Node, "pod "+p.Name)
}
