package ray

import (
	"cmp"
	"slices"
	"strings"

	"github.com/firstlight/firstlight/internal/check"
	probe "github.com/firstlight/firstlight/internal/probe/ray"
)

// judgeNodes requires that Ray has exactly the GPUs of the inventory: one raylet on each node, with all its GPUs.
func (g *Gate) judgeNodes(b *check.Builder, id string, nodes []probe.Node, pods []podFigures) {
	alive, dead := map[string][]probe.Node{}, map[string]probe.Node{}
	for _, n := range nodes {
		if n.State == probe.Alive {
			alive[n.Address] = append(alive[n.Address], n)
		} else {
			dead[n.Address] = n
		}
	}
	known := []string{}
	for _, p := range pods {
		known = append(known, p.Address)
		if p.GPUs == 0 || !slices.Contains(g.nodes, p.Node) {
			continue
		}
		switch have := alive[p.Address]; {
		case len(have) == 0:
			state := "not registered"
			if n, ok := dead[p.Address]; ok {
				state = n.State + " " + n.Message
			}
			b.Fail(id, p.Node, remedyRaylet, "the raylet of pod %s on %s is %s", p.Name, p.Node, strings.TrimSpace(state))
		case len(have) > 1:
			b.Fail(id, p.Node, remedyRaylet, "%d raylets of pod %s on %s are alive, want 1", len(have), p.Name, p.Node)
		case have[0].GPUs != float64(g.gpus):
			b.Fail(id, p.Node, remedyGPUs, "Ray has %g GPUs of %s, want %d", have[0].GPUs, p.Node, g.gpus)
		}
	}
	for address, have := range alive {
		if !slices.Contains(known, address) && have[0].GPUs > 0 {
			b.Fail(id, "Ray node "+address, "stop the raylet that joined the cluster from outside", "has %g GPUs and is not a pod of RayCluster %s", have[0].GPUs, g.ref())
		}
	}
}

// nodesByID are the nodes of the inventory by the ID of their raylet.
func (g *Gate) nodesByID(obs []check.Observation) map[string]string {
	var b check.Builder
	nodes, _, _ := check.Require[[]probe.Node](&b, obs, kindNodes, "", "", "")
	pods, _, _ := check.Require[[]podFigures](&b, obs, kindPods, "", "", "")
	out := map[string]string{}
	for _, n := range nodes {
		for _, p := range pods {
			if n.State == probe.Alive && p.Address == n.Address && p.GPUs > 0 {
				out[n.ID] = p.Node
			}
		}
	}
	return out
}

// judgeRestarts requires exactly the pods that were there before, with no restart in between.
func (g *Gate) judgeRestarts(b *check.Builder, obs []check.Observation) {
	if !b.Clean() { // the pods were not read again
		return
	}
	before, _, _ := check.Require[[]podFigures](b, obs, kindPods, "", "the pods of RayCluster "+g.ref(), remedyAPI)
	after, o, ok := check.Require[[]podFigures](b, obs, kindAfter, "", "the pods after the placement groups", remedyAPI)
	if !ok {
		return
	}
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

// suspectOf is the suspect of a pod's fault: the head, or the node of a worker.
func (g *Gate) suspectOf(p podFigures) string {
	if p.Head {
		return "head of RayCluster " + g.ref()
	}
	return cmp.Or(p.Node, "pod "+p.Name)
}
