package offer

import (
	"fmt"
	"slices"
)

// GPU is a whole GPU of a node, as a claim's allocation names it.
type GPU struct {
	Pool   string `json:"pool"`
	Device string `json:"device"`
	UUID   string `json:"uuid,omitempty"`
}

// OfNode are the GPUs that the expected driver offers on a node, and what keeps
// others of its slices from counting; slices says how many there are of the driver.
func OfNode(all []Slice, node string) (gpus []GPU, found int, troubles []string) {
	pools := map[string][]Slice{}
	for _, s := range all {
		if s.Driver == Driver && s.Node == node {
			pools[s.Pool] = append(pools[s.Pool], s)
			found++
		}
	}
	for _, name := range sorted(pools) {
		newest := current(pools[name])
		if want := newest[0].PoolSlices; int64(len(newest)) != want {
			troubles = append(troubles, fmt.Sprintf("pool %s has %d of %d slices of generation %d: none of its devices can be allocated", name, len(newest), want, newest[0].Generation))
			continue
		}
		for _, s := range newest {
			for _, d := range s.Devices {
				switch {
				case d.Type != typeGPU:
				case d.Tainted:
					troubles = append(troubles, fmt.Sprintf("device %s/%s is tainted", name, d.Name))
				default:
					gpus = append(gpus, GPU{Pool: name, Device: d.Name, UUID: d.UUID})
				}
			}
		}
	}
	return gpus, found, troubles
}

// Find is the GPU that an allocation names; false when the expected driver does
// not offer it on the node.
func Find(all []Slice, node, pool, device string) (GPU, bool) {
	gpus, _, _ := OfNode(all, node)
	i := slices.IndexFunc(gpus, func(g GPU) bool { return g.Pool == pool && g.Device == device })
	if i < 0 {
		return GPU{}, false
	}
	return gpus[i], true
}

// current are a pool's slices of the highest generation.
func current(pool []Slice) []Slice {
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

func sorted(pools map[string][]Slice) []string {
	names := make([]string, 0, len(pools))
	for name := range pools {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
