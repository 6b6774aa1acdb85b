package ray

import (
	"cmp"
	"slices"
	"time"

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

// restartedWithin is how long a container must have run after a restart. The kubelet starts one that crashes again after
// five minutes at most, and forgets the crashes of one that runs for ten minutes.
const restartedWithin = 10 * time.Minute

// judgeRecent requires that no Ray container has restarted lately: one that crashes again and again is ready in between.
func (g *Gate) judgeRecent(b *check.Builder, o check.Observation, pods []podFigures) {
	for _, p := range pods {
		last := p.Started
		if p.Ended != nil && (last == nil || p.Ended.After(*last)) {
			last = p.Ended
		}
		if p.Restarts > 0 && p.Ready && last != nil && o.At.Sub(*last) < restartedWithin {
			b.Fail(o.ID, g.suspectOf(p), remedyRecent, "the Ray container of pod %s restarted %s before it was read, less than %s (%d restarts)",
				p.Name, max(0, o.At.Sub(*last)).Round(time.Second), restartedWithin, p.Restarts)
		}
	}
}

// judgeRaylets requires the raylets that existed before: a worker that loses its raylet and joins again has another ID.
func (g *Gate) judgeRaylets(b *check.Builder, obs []check.Observation) {
	before, _, _ := check.Require[[]probe.Node](b, obs, kindNodes, "", "the nodes of Ray", remedyAPIHead)
	after, o, ok := check.Require[[]probe.Node](b, obs, kindRaylets, "", "the nodes of Ray after the placement groups", remedyAPIHead)
	if !ok {
		return
	}
	nodes := g.nodesByID(obs)
	counts := func(n probe.Node) bool { return n.State == probe.Alive && (n.Head || n.GPUs > 0) }
	suspect := func(n probe.Node) string {
		if n.Head {
			return "head of RayCluster " + g.ref()
		}
		return cmp.Or(nodes[n.ID], "Ray node "+n.Address)
	}
	for _, was := range before {
		i := slices.IndexFunc(after, func(n probe.Node) bool { return n.ID == was.ID && counts(n) && n.GPUs == was.GPUs })
		if counts(was) && i < 0 {
			b.Fail(o.ID, suspect(was), remedyRaylet, "raylet %s of %s was lost during the gate", was.ID, suspect(was))
		}
	}
	for _, n := range after {
		if counts(n) && !slices.ContainsFunc(before, func(was probe.Node) bool { return was.ID == n.ID }) {
			b.Fail(o.ID, suspect(n), remedyRaylet, "raylet %s at %s joined during the gate", n.ID, n.Address)
		}
	}
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
