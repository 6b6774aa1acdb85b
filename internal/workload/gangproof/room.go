// Package gangproof is the proof of a gang scheduler: of a gang that is one pod too large for
// the free GPUs no pod is placed, of a gang that fits every pod is.
//
// Invariants: a gang has at least two pods; its size follows from the observed usage of the
// nodes; every pod of it is accounted for. The package does no I/O.
package gangproof

import (
	"slices"

	"github.com/firstlight/firstlight/internal/probe/kube"
)

// minGang is the smallest number of pods that form a gang.
const minGang = 2

// Room is what of the nodes is free for the proof.
type Room struct {
	// Nodes whose GPUs are all free.
	Nodes      []string `json:"nodes"`
	GPUsPerPod int      `json:"gpusPerPod"`
	// Fits is how many pods of that size fit on the nodes.
	Fits int `json:"fits"`
}

// RoomIn selects of the named nodes those whose GPUs are all free. A pod uses all GPUs of a
// node; on a single node it uses half of them, so that the gang has more than one pod.
func RoomIn(names []string, gpus int, usage map[string]kube.Usage) Room {
	r := Room{Nodes: []string{}, GPUsPerPod: gpus}
	for _, name := range names {
		if u := usage[name]; gpus > 0 && u.Requested == 0 && u.Allocatable >= gpus {
			r.Nodes = append(r.Nodes, name)
		}
	}
	slices.Sort(r.Nodes)
	if len(r.Nodes) == 1 && gpus > 1 {
		r.GPUsPerPod = gpus / 2
	}
	r.Fits = r.FitsOn(usage)
	return r
}

// FitsOn is how many pods of the room's size fit on its nodes with this usage.
func (r Room) FitsOn(usage map[string]kube.Usage) int {
	fits := 0
	for _, name := range r.Nodes {
		fits += usage[name].Free() / r.GPUsPerPod
	}
	return fits
}

// TooLarge is the number of pods of the gang that does not fit.
func (r Room) TooLarge() int { return r.Fits + 1 }

// Fitting is the gang that fits. If only one GPU is free, its pods request none: a single pod
// is not a gang, so placing it would prove nothing.
func (r Room) Fitting() (pods, gpusPerPod int) {
	if r.Fits < minGang {
		return minGang, 0
	}
	return r.Fits, r.GPUsPerPod
}
