package gang

import (
	"slices"

	"github.com/firstlight/firstlight/internal/probe/kube"
	"github.com/firstlight/firstlight/internal/workload"
)

// The kinds of what is observed.
const (
	kindScheduler = "gang-scheduler"
	kindRoom      = "room"
	kindTooLarge  = "gang-too-large"
	kindFits      = "gang-fits"
)

// Room is what of the inventory is free for the proofs.
type Room struct {
	// Nodes whose GPUs are all free.
	Nodes      []string `json:"nodes"`
	GPUsPerPod int      `json:"gpusPerPod"`
	// Fits is how many pods of that size they hold.
	Fits int `json:"fits"`
	// Usage of every node of the inventory.
	Usage map[string]kube.Usage `json:"usage"`
}

// fitting is the gang that fits: how many pods, with how many GPUs each. Where all that
// is free is one GPU, a gang of more than one pod is one of pods that take none: a single
// pod is no gang, and that it is bound proves nothing of gangs.
func (r Room) fitting() (pods, gpus int) {
	if r.Fits == 1 {
		return leastGang, 0
	}
	return r.Fits, r.GPUsPerPod
}

// leastGang is how many pods are a gang.
const leastGang = 2

// Proof is what became of gangs.
type Proof struct {
	// Large is the gang that the proof is about.
	Large workload.Placement `json:"large"`
	// LargeAfter is the same, once the pod beside it was bound; Beside is that pod.
	// Both only of the gang that does not fit.
	LargeAfter workload.Placement `json:"largeAfter,omitzero"`
	Beside     workload.Placement `json:"beside,omitzero"`
	// Undecided is why a decision was not seen.
	Undecided string `json:"undecided,omitempty"`
}

// roomOn takes the nodes whose GPUs are all free. A pod takes a whole node; where that
// leaves one pod, half of it, so that there is a gang to place.
func (c *Check) roomOn(usage map[string]kube.Usage) Room {
	r := Room{Nodes: []string{}, GPUsPerPod: c.gpus, Usage: usage}
	for _, name := range c.nodes {
		if u, ok := usage[name]; ok && c.gpus > 0 && u.Requested == 0 && u.Allocatable >= c.gpus {
			r.Nodes = append(r.Nodes, name)
		}
	}
	slices.Sort(r.Nodes)
	if len(r.Nodes) == 1 && c.gpus > 1 {
		r.GPUsPerPod = c.gpus / 2
	}
	for _, name := range r.Nodes {
		r.Fits += usage[name].Free() / r.GPUsPerPod
	}
	return r
}
