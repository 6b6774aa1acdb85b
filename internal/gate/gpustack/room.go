package gpustack

import (
	"slices"

	"github.com/firstlight/firstlight/internal/probe/kube"
)

// room is what of a cluster is free for the proof.
type room struct {
	nodes      []string
	gpusPerPod int
	// fits is how many pods of that size the nodes hold.
	fits int
}

// roomIn takes the nodes whose GPUs are all free. A pod takes a whole node; on
// a single node it takes half of it, so that there is a gang to place.
func (g *Gate) roomIn(usage map[string]kube.Usage) room {
	r := room{gpusPerPod: g.wantGPUs}
	for _, name := range g.nodes {
		if u, ok := usage[name]; ok && g.wantGPUs > 0 && u.Requested == 0 && u.Allocatable >= g.wantGPUs {
			r.nodes = append(r.nodes, name)
		}
	}
	slices.Sort(r.nodes)
	if len(r.nodes) == 1 && g.wantGPUs > 1 {
		r.gpusPerPod = g.wantGPUs / 2
	}
	r.fits = g.fitsOn(usage, r)
	return r
}

// fitsOn is how many pods of the room's size its nodes hold now.
func (g *Gate) fitsOn(usage map[string]kube.Usage, r room) int {
	fits := 0
	for _, name := range r.nodes {
		fits += usage[name].Free() / r.gpusPerPod
	}
	return fits
}
