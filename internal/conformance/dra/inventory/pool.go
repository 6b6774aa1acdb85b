package inventory

import (
	"fmt"
	"maps"
	"slices"
)

// GPU is a whole GPU of a node, as the allocation of a claim names it.
type GPU struct {
	Pool   string `json:"pool"`
	Device string `json:"device"`
	UUID   string `json:"uuid,omitempty"`
	// Product is its model as nvidia-smi prints it.
	Product string `json:"product,omitempty"`
	// State is StateTainted or StateUnpublished of an allocated GPU; empty: it is offered.
	State string `json:"state,omitempty"`
}

// States of an allocated GPU that no further claim can get.
const (
	StateTainted = "tainted"
	// StateUnpublished: its pool has no complete set of slices, as while the driver publishes
	// them again. UUID is then that of the newest generation, or empty.
	StateUnpublished = "unpublished"
)

// GPUsOnNode lists the GPUs that Driver offers on a node, counts its slices of that driver,
// and lists why devices of them do not count.
func GPUsOnNode(all []Slice, node string) (gpus []GPU, published int, problems []string) {
	pools := map[string][]Slice{}
	for _, s := range all {
		if s.Driver == Driver && s.Node == node {
			pools[s.Pool] = append(pools[s.Pool], s)
			published++
		}
	}
	for _, name := range slices.Sorted(maps.Keys(pools)) {
		newest := newestGeneration(pools[name])
		if want := newest[0].PoolSlices; int64(len(newest)) != want {
			problems = append(problems, fmt.Sprintf("pool %s has %d of %d slices of generation %d: none of its devices can be allocated", name, len(newest), want, newest[0].Generation))
			continue
		}
		devices := devicesOf(newest)
		for _, d := range devices {
			part := slices.IndexFunc(devices, func(of Device) bool { return of.Type == typeMIG && !of.onDemand() && of.sameGPU(d) })
			switch {
			case d.Type != typeGPU:
			case d.Tainted:
				problems = append(problems, fmt.Sprintf("device %s/%s is tainted", name, d.Name))
			case d.Shared:
				problems = append(problems, fmt.Sprintf("device %s/%s can be allocated to several claims at once (allowMultipleAllocations), so that a claim may get a part of it", name, d.Name))
			case part >= 0:
				problems = append(problems, fmt.Sprintf("device %s/%s is divided: MIG device %s is a part of it", name, d.Name, devices[part].Name))
			default:
				gpus = append(gpus, GPU{Pool: name, Device: d.Name, UUID: d.UUID, Product: d.Product})
			}
		}
	}
	return gpus, published, problems
}

func devicesOf(all []Slice) []Device {
	var out []Device
	for _, s := range all {
		out = append(out, s.Devices...)
	}
	return out
}

// allocatable names a device of a pool.
type allocatable struct{ pool, device string }

// wholes are the GPUs of a node by the devices whose allocation holds them: the GPU, its parts, and the GPU for a virtual
// machine.
func wholes(all []Slice, node string, gpus []GPU) map[allocatable]GPU {
	pools := map[string][]Slice{}
	for _, s := range all {
		if s.Driver == Driver && s.Node == node {
			pools[s.Pool] = append(pools[s.Pool], s)
		}
	}
	out := map[allocatable]GPU{}
	for pool, published := range pools {
		devices := devicesOf(newestGeneration(published))
		for _, g := range gpus {
			whole := slices.IndexFunc(devices, func(d Device) bool { return g.Pool == pool && g.Device == d.Name })
			if whole < 0 {
				continue
			}
			for _, d := range devices {
				if d.Name == g.Device || d.Type != typeGPU && d.sameGPU(devices[whole]) {
					out[allocatable{pool, d.Name}] = g
				}
			}
		}
	}
	return out
}

// FindGPU finds the GPU of an allocation; false where Driver does not offer it on the node.
func FindGPU(all []Slice, node, pool, device string) (GPU, bool) {
	gpus, _, _ := GPUsOnNode(all, node)
	i := slices.IndexFunc(gpus, func(g GPU) bool { return g.Pool == pool && g.Device == device })
	if i < 0 {
		return GPU{}, false
	}
	return gpus[i], true
}

// AllocatedGPU finds the GPU of an allocation in all slices of its pool; false where they show that it is
// not a GPU of the node. FindGPU finds only GPUs that are offered now; an allocated GPU can be tainted or unpublished later.
func AllocatedGPU(all []Slice, node, pool, device string) (GPU, bool) {
	gpu := GPU{Pool: pool, Device: device}
	var published []Slice
	for _, s := range all {
		if s.Driver == Driver && s.Pool == pool {
			published = append(published, s)
		}
	}
	newest := newestGeneration(published)
	if len(newest) == 0 || int64(len(newest)) != newest[0].PoolSlices {
		gpu.State = StateUnpublished
	}
	for _, s := range newest {
		i := slices.IndexFunc(s.Devices, func(d Device) bool { return d.Name == device })
		if i < 0 {
			continue
		}
		d := s.Devices[i]
		if d.Tainted && gpu.State == "" {
			gpu.State = StateTainted
		}
		gpu.UUID, gpu.Product = d.UUID, d.Product
		return gpu, s.Node == node && d.Type == typeGPU
	}
	return gpu, gpu.State == StateUnpublished
}

func newestGeneration(pool []Slice) []Slice {
	var out []Slice
	for _, s := range pool {
		switch {
		case len(out) == 0 || s.Generation > out[0].Generation:
			out = []Slice{s}
		case s.Generation == out[0].Generation:
			out = append(out, s)
		}
	}
	return out
}
