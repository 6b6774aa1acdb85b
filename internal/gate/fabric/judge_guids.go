package fabric

import (
	"slices"
	"strings"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/gate/fabric/uniform"
	"github.com/firstlight/firstlight/internal/probe/infiniband"
)

const remedyGUID = "check that the two nodes are different hosts (inventory.nodes); give each adapter the GUID of its label (mlxconfig, flint -d DEVICE -guid), reset it and restart the subnet manager; then run again: firstlight accept --from fabric"

// judgeGUIDs requires unique GUIDs: the subnet treats adapters with the same GUID as one.
func judgeGUIDs(b *check.Builder, adapters []adapter) {
	holders := map[uint64][]string{}
	for _, a := range adapters {
		if !a.identified() {
			b.Unobserved(a.ibstatObs.ID, a.name, remedyUnnamed, "ibstat shows no GUID of %s, or none of its port %d", a.name, firstPort)
		}
		for _, id := range a.guids() {
			holders[id] = append(holders[id], a.name)
		}
	}
	for _, a := range adapters {
		for _, id := range a.guids() {
			others := slices.DeleteFunc(slices.Clone(holders[id]), func(name string) bool { return name == a.name })
			if len(others) > 0 {
				b.Fail(a.ibstatObs.ID, a.name, remedyGUID, "%s has the GUID 0x%016x, which %s has too: the subnet treats them as one adapter", a.name, id, strings.Join(uniform.Head(others), ", "))
			}
		}
	}
}

// identified reports whether the GUIDs of the adapter and its port are known.
func (a adapter) identified() bool {
	known := func(text string) bool {
		_, ok := guid(text)
		return ok
	}
	return known(a.hca.NodeGUID) && slices.ContainsFunc(a.hca.Ports, func(p infiniband.HCAPort) bool { return p.Number == firstPort && known(p.PortGUID) })
}

// guids are the distinct GUIDs of the adapter and its ports.
func (a adapter) guids() []uint64 {
	var out []uint64
	add := func(text string) {
		if id, ok := guid(text); ok && !slices.Contains(out, id) {
			out = append(out, id)
		}
	}
	add(a.hca.NodeGUID)
	for _, p := range a.hca.Ports {
		add(p.PortGUID)
	}
	return out
}
