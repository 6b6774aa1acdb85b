package node

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/probe/nvidia"
)

// judgeHostMemory: every host has what the profile demands, and no less than the others.
// They are held against their upper median: of two hosts, against the larger; one alone
// has only the profile's demand.
func (g *Gate) judgeHostMemory(b *check.Builder, hosts []*host) {
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
			b.Unobserved(h.facts.obs.ID, h.name, remedyUnobserved, "does not say how much memory it has (/proc/meminfo)")
			continue
		}
		has, median := float64(*kib)/perGiB, float64(all[len(all)/2])/perGiB
		switch {
		case has < least:
			b.Fail(h.facts.obs.ID, h.name, remedyMemory, "has %.0f GiB of memory, expected at least %g GiB", has, least)
		case has < median*(1-g.profile.Node.MemorySpread.Value):
			b.Fail(h.facts.obs.ID, h.name, remedyMemory, "has %.0f GiB of memory, the other nodes have %.0f GiB", has, median)
		}
	}
}

// judgeHugePages: all hosts have reserved the same.
func judgeHugePages(b *check.Builder, hosts []*host) {
	said := map[*host]string{}
	for _, h := range hosts {
		f := h.facts.fig.Host
		if f.HugePages == nil || f.HugePageKiB == nil {
			b.Unobserved(h.facts.obs.ID, h.name, remedyUnobserved, "does not say how many huge pages it has reserved (/proc/meminfo)")
			continue
		}
		said[h] = fmt.Sprintf("%d huge pages of %d KiB", *f.HugePages, *f.HugePageKiB)
	}
	differs := differing(said)
	for _, h := range hosts {
		if d := differs[h]; d != "" {
			b.Fail(h.facts.obs.ID, h.name, remedyPages, "has reserved %s, %s", said[h], d)
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
func (g *Gate) judgeTopology(b *check.Builder, hosts []*host, at slots) {
	for i := range g.gpus() {
		said := map[*host]string{}
		for _, h := range hosts {
			gpus := h.facts.fig.Host.GPUs
			doc, ok := h.latest()
			switch {
			case !ok || len(doc.log.GPUs) != g.gpus():
			case len(gpus) != g.gpus():
				if i == 0 {
					b.Unobserved(h.facts.obs.ID, h.name, remedyUnobserved, "nvidia-smi topo -m shows the places of %d GPUs, expected %d", len(gpus), g.gpus())
				}
			default:
				said[h] = placeText(gpus[i], g.site.Fabric.HCAs)
			}
		}
		differs := differing(said)
		for _, h := range hosts {
			if d := differs[h]; d != "" {
				doc, _ := h.latest()
				b.Fail(h.facts.obs.ID, at.gpu(h, doc.log.GPUs[i].BusID), remedyTopology, "is attached otherwise than on other nodes: %s; %s", said[h], d)
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
