package gpustack

import (
	"slices"

	"github.com/firstlight/firstlight/internal/probe/kube"
)

// room are the free nodes for the proof.
type room struct {
	nodes      []string
	gpusPerPod int
	// fits is how many pods of that size fit on the nodes.
	fits int
}

// roomIn selects the nodes whose GPUs are all free. A pod uses all GPUs of a node; on a single
// node it uses half of them, so that the gang has more than one pod.
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

// fitsOn is how many pods of the room's size fit on its nodes now.
func (g *Gate) fitsOn(usage map[string]kube.Usage, r room) int {
	fits := 0
	for _, name := range r.nodes {
		fits += usage[name].Free() / r.gpusPerPod
	}
	return fits
}
