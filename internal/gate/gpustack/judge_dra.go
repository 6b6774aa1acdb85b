package gpustack

import (
	"slices"

	"github.com/firstlight/firstlight/internal/check"
)

const remedySlices = "see the log of the DRA driver's kubelet plugin on the node, and nvidia-smi there"

// judgeSlices requires the profile's GPUs in the slices of every node of the inventory, and of no
// other. judgeNode requires that the device plugin does not offer them, too.
func (g *Gate) judgeSlices(b *check.Builder, o check.Observation, found []sliceFigures) {
	offered := 0
	for _, name := range g.nodes {
		i := slices.IndexFunc(found, func(f sliceFigures) bool { return f.Node == name })
		if i < 0 {
			b.Unobserved(o.ID, name, "run the gate again", "its ResourceSlices were not observed")
			continue
		}
		f := found[i]
		offered += f.GPUs
		for _, problem := range f.Problems {
			b.Fail(o.ID, name, remedySlices, "%s", problem)
		}
		if f.GPUs != g.wantGPUs {
			b.Fail(o.ID, name, remedySlices, "offers %d GPUs in %d ResourceSlices of %s, %d are expected", f.GPUs, f.Slices, g.stack.DeviceClass, g.wantGPUs)
		}
	}
	for _, f := range found {
		if !slices.Contains(g.nodes, f.Node) && !slices.Contains(g.site.Inventory.LeftOut, f.Node) {
			b.Fail(o.ID, f.Node, "add the node to the inventory, or remove it from the cluster", "has %d GPUs and is not in the inventory", f.GPUs)
		}
	}
	b.Figure(check.Figure{
		Name: "GPUs offered through DRA", Value: float64(offered), Unit: "GPUs",
		Limit: float64(g.wantGPUs * len(g.nodes)), Relation: "==", Source: "inventory x " + g.gpuSource,
	})
}
