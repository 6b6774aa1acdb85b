package detect

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/firstlight/firstlight/internal/probe/kube"
	"github.com/firstlight/firstlight/internal/profile"
)

// fabric is what a group of nodes shows of a compute network.
type fabric struct {
	// kind is empty where nothing tells it; where is what does.
	kind, where string
	// resources are the extended resources of ports, with how many most nodes have.
	resources []port
	// hcas are the devices that DRANET offers on every node of the group; hcasDiffer: nodes offer
	// different ones.
	hcas       []string
	hcasDiffer bool
	// mellanox is the label that tells that nodes have adapters of NVIDIA; empty without one.
	mellanox string
}

type port struct {
	resource string
	count    int
}

// fabricOf reads the network of a group.
func (s *Snapshot) fabricOf(k names, g group) fabric {
	var f fabric
	counts := map[string]map[int]int{} // resource, quantity, nodes
	for _, m := range g.machines {
		f.mellanox = cmp.Or(f.mellanox, k.AdapterLabel.on(m.node.Labels))
		for name := range m.node.Status.Capacity {
			kind, ok := k.port(string(name))
			n := kube.Count(m.node.Status.Capacity, string(name))
			if !ok || n == 0 {
				continue
			}
			if counts[string(name)] == nil {
				counts[string(name)] = map[int]int{}
			}
			counts[string(name)][n]++
			if kind != "" && f.kind == "" {
				f.kind, f.where = kind, fmt.Sprintf("resource %s", name)
			}
		}
		for _, l := range k.FabricLabels {
			if m.node.Labels[l.Label] == l.Value {
				f.kind, f.where = l.Kind, fmt.Sprintf("label %s is %s", l.Label, l.Value)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		best := 0
		for _, n := range slices.Sorted(maps.Keys(counts[name])) {
			if best == 0 || counts[name][n] > counts[name][best] {
				best = n
			}
		}
		f.resources = append(f.resources, port{name, best})
	}
	f.hcas, f.hcasDiffer = s.hcas(g.machines)
	return f
}

// hcas are the RDMA devices of nodes.
func (s *Snapshot) hcas(machines []machine) (names []string, differ bool) {
	for i, m := range machines {
		var own []string
		for _, d := range s.RDMA {
			if d.Node == m.node.Name {
				own = append(own, d.HCA)
			}
		}
		slices.Sort(own)
		if i > 0 && !slices.Equal(own, names) {
			return nil, true
		}
		names = own
	}
	return names, false
}

// String lists the observed ports and adapters, for messages.
func (f fabric) String() string {
	var parts []string
	for _, r := range f.resources {
		parts = append(parts, fmt.Sprintf("%d of %s a node", r.count, r.resource))
	}
	if len(f.hcas) > 0 {
		parts = append(parts, fmt.Sprintf("RDMA devices %s by DRANET", strings.Join(f.hcas, ", ")))
	}
	if f.kind != "" {
		parts = append(parts, fmt.Sprintf("a fabric of kind %s (%s)", f.kind, f.where))
	}
	if f.mellanox != "" {
		parts = append(parts, "adapters of NVIDIA (label "+f.mellanox+")")
	}
	if len(parts) == 0 {
		return "no port of a compute fabric"
	}
	return strings.Join(parts, ", ")
}

// empty tells that nothing of a fabric was seen.
func (f fabric) empty() bool {
	return f.kind == "" && len(f.resources) == 0 && len(f.hcas) == 0 && !f.hcasDiffer && f.mellanox == ""
}

// allows tells that a profile does not contradict the observed ports and adapters. No observation
// excludes no profile: ports need not be offered by Kubernetes.
func (f fabric) allows(p *profile.Profile) bool {
	switch {
	case f.empty():
		return true
	case f.kind != "" && f.kind != p.Fabric.Kind:
		return false
	case f.kind == profile.EFA && len(f.resources) > 0:
		return f.resources[0].count == int(p.Node.HCAs.Value)
	case f.kind == "":
		return p.Verbs()
	}
	return true
}
