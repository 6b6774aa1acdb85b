package ray

import (
	"cmp"
	"slices"
	"strings"

	"github.com/firstlight/firstlight/internal/check"
	probe "github.com/firstlight/firstlight/internal/probe/ray"
)

// place is what raylets and pods have in common. Pods of the host's network share its address.
type place struct {
	address string
	head    bool
}

// members are the pods of a place with their raylets.
type members struct {
	place       place
	live        []podFigures
	terminating []podFigures
	alive, dead []probe.Node
}

// match returns the members of each place, by address.
func match(nodes []probe.Node, pods []podFigures) []*members {
	all := map[place]*members{}
	at := func(address string, head bool) *members {
		p := place{address, head}
		if all[p] == nil {
			all[p] = &members{place: p}
		}
		return all[p]
	}
	for _, p := range pods {
		m := at(p.Address, p.Head)
		if p.Terminating {
			m.terminating = append(m.terminating, p)
		} else {
			m.live = append(m.live, p)
		}
	}
	for _, n := range nodes {
		m := at(n.Address, n.Head)
		if n.State == probe.Alive {
			m.alive = append(m.alive, n)
		} else {
			m.dead = append(m.dead, n)
		}
	}
	out := []*members{}
	for _, m := range all {
		out = append(out, m)
	}
	slices.SortFunc(out, func(a, b *members) int {
		if c := strings.Compare(a.place.address, b.place.address); c != 0 || a.place.head == b.place.head {
			return c
		}
		if a.place.head {
			return -1
		}
		return 1
	})
	return out
}

// offered is the number of GPUs of the raylets that are alive.
func offered(nodes []probe.Node) (gpus float64) {
	for _, n := range nodes {
		if n.State == probe.Alive {
			gpus += n.GPUs
		}
	}
	return gpus
}

// judgeNodes requires that Ray has exactly the GPUs of the inventory: one raylet on each node, with all its GPUs, and
// none that its pod does not request.
func (g *Gate) judgeNodes(b *check.Builder, id string, nodes []probe.Node, pods []podFigures) {
	for _, m := range match(nodes, pods) {
		gpus := offered(m.alive)
		switch i := slices.IndexFunc(m.live, func(p podFigures) bool { return p.GPUs > 0 }); {
		case gpus > 0 && len(m.terminating) > 0 && len(m.alive) > len(m.live):
			b.Unobserved(id, "pod "+m.terminating[0].Name, "run the gate again when no pod of the RayCluster terminates", "terminates, and its raylet has GPUs")
		case gpus > 0 && len(m.live) == 0:
			b.Fail(id, "Ray node "+m.place.address, "stop the raylet that joined the cluster from outside", "has %g GPUs and is not a pod of RayCluster %s", gpus, g.ref())
		case i >= 0:
			g.judgeRaylet(b, id, m, m.live[i])
		case gpus > 0:
			p := m.live[0]
			b.Fail(id, "pod "+p.Name, remedyUnrequested, "Ray has %g GPUs of pod %s, which requests %d on %s", gpus, p.Name, p.GPUs, cmp.Or(p.Node, "no node"))
		}
	}
}

// judgeRaylet requires the raylet of a pod with GPUs. A pod that is not on a node of the inventory has failed already.
func (g *Gate) judgeRaylet(b *check.Builder, id string, m *members, p podFigures) {
	if !slices.Contains(g.nodes, p.Node) {
		return
	}
	switch gpus := offered(m.alive); {
	case len(m.alive) == 0:
		state := "not registered"
		if len(m.dead) > 0 {
			last := m.dead[len(m.dead)-1]
			state = last.State + " " + last.Message
		}
		b.Fail(id, p.Node, remedyRaylet, "the raylet of pod %s on %s is %s", p.Name, p.Node, strings.TrimSpace(state))
	case len(m.alive) > len(m.live):
		b.Fail(id, p.Node, remedyRaylet, "%d raylets of pod %s on %s are alive, want %d", len(m.alive), p.Name, p.Node, len(m.live))
	case gpus != float64(g.gpus):
		b.Fail(id, p.Node, remedyGPUs, "Ray has %g GPUs of %s, want %d", gpus, p.Node, g.gpus)
	}
}
