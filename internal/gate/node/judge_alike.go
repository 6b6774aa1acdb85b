package node

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/firstlight/firstlight/internal/probe/nvidia"
)

// judgeHostMemory: every host has what the profile demands, and no less than the others.
// They are held against their upper median: of two hosts, against the larger; one alone
// has only the profile's demand.
func (g *Gate) judgeHostMemory(v *verdict, hosts []*host) {
	const perGiB = 1 << 20 // KiB
	var all []int64
	for _, h := range hosts {
		if kib := h.facts.fig.Host.MemoryKiB; kib != nil {
			all = append(all, *kib)
		}
	}
	slices.Sort(all)
	least := g.profile.Node.Memory.Value
	for _, h := range hosts {
		kib := h.facts.fig.Host.MemoryKiB
		if kib == nil {
			v.miss(h.facts.obs, h.name, "does not say how much memory it has (/proc/meminfo)", remedyUnseen)
			continue
		}
		has, median := float64(*kib)/perGiB, float64(all[len(all)/2])/perGiB
		switch {
		case has < least:
			v.fail(h.facts.obs, h.name, fmt.Sprintf("has %.0f GiB of memory, expected at least %g GiB", has, least), remedyMemory)
		case has < median*(1-g.profile.Node.MemorySpread.Value):
			v.fail(h.facts.obs, h.name, fmt.Sprintf("has %.0f GiB of memory, the other nodes have %.0f GiB", has, median), remedyMemory)
		}
	}
}

// judgeHugePages: all hosts have reserved the same.
func judgeHugePages(v *verdict, hosts []*host) {
	said := map[*host]string{}
	for _, h := range hosts {
		f := h.facts.fig.Host
		if f.HugePages == nil || f.HugePageKiB == nil {
			v.miss(h.facts.obs, h.name, "does not say how many huge pages it has reserved (/proc/meminfo)", remedyUnseen)
			continue
		}
		said[h] = fmt.Sprintf("%d huge pages of %d KiB", *f.HugePages, *f.HugePageKiB)
	}
	differs := differing(said)
	for _, h := range hosts {
		if d := differs[h]; d != "" {
			v.fail(h.facts.obs, h.name, "has reserved "+said[h]+", "+d, remedyPages)
		}
	}
}

// differing says of each host that differs what it differs from: from what more than half
// of them have, else from the others. Then it is not known which of them is right (as of
// two), so all are named. One host differs from nothing.
func differing(said map[*host]string) map[*host]string {
	votes := map[string]int{}
	for _, text := range said {
		votes[text]++
	}
	out := map[*host]string{}
	if len(votes) < 2 {
		return out
	}
	usual := most(votes)
	decided := 2*votes[usual] > len(said)
	for h, text := range said {
		switch {
		case !decided:
			others := slices.DeleteFunc(slices.Sorted(maps.Keys(votes)), func(t string) bool { return t == text })
			out[h] = "other nodes have " + strings.Join(others, " or ") + ", and no majority says which is right"
		case text != usual:
			out[h] = "most nodes have " + usual
		}
	}
	return out
}

// judgeTopology: each GPU is attached as the same one of the other nodes: by the same
// paths to its neighbours and the fabric's adapters, near the same CPUs. Hosts with another number of
// GPUs are passed over: that has been said, and numbers shift.
func (g *Gate) judgeTopology(v *verdict, hosts []*host, at places) {
	for i := range g.gpus() {
		said := map[*host]string{}
		for _, h := range hosts {
			gpus := h.facts.fig.Host.GPUs
			doc, ok := h.latest()
			switch {
			case !ok || len(doc.log.GPUs) != g.gpus():
			case len(gpus) != g.gpus():
				if i == 0 {
					v.miss(h.facts.obs, h.name, fmt.Sprintf("nvidia-smi topo -m shows the places of %d GPUs, expected %d", len(gpus), g.gpus()), remedyUnseen)
				}
			default:
				said[h] = placeText(gpus[i], g.site.Fabric.HCAs)
			}
		}
		differs := differing(said)
		for _, h := range hosts {
			if d := differs[h]; d != "" {
				doc, _ := h.latest()
				v.fail(h.facts.obs, at.gpu(h, doc.log.GPUs[i].BusID), "is attached otherwise than on other nodes: "+said[h]+"; "+d, remedyTopology)
			}
		}
	}
}

// bonded is a path over NVLinks. How many are up is judged elsewhere, and of that GPU.
var bonded = regexp.MustCompile(`^NV\d+$`)

// placeText writes one GPU's row: "CPUs 0-55 0 N/A, NVLinks to GPU1, PIX to mlx5_0". Of the
// adapters those of the compute fabric count: others may be in any slot, or on some nodes only.
func placeText(p nvidia.GPUTopology, fabric []string) string {
	byPath := map[string][]string{}
	for _, device := range slices.Sorted(maps.Keys(p.Paths)) {
		if !strings.HasPrefix(device, "GPU") && !slices.Contains(fabric, device) {
			continue
		}
		path := bonded.ReplaceAllString(p.Paths[device], "NVLinks")
		byPath[path] = append(byPath[path], device)
	}
	words := []string{"CPUs " + p.Affinity}
	for _, path := range slices.Sorted(maps.Keys(byPath)) {
		words = append(words, path+" to "+strings.Join(byPath[path], " "))
	}
	return strings.Join(words, ", ")
}
