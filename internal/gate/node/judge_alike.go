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

// judgeHostMemory requires the profile's memory, and as much as the other hosts have. Hosts
// are compared with their upper median: of two hosts, with the larger.
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
			b.Unobserved(h.facts.obs.ID, h.name, remedyUnobserved, "does not report its memory size (/proc/meminfo)")
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

// judgeHugePages requires the same reserved huge pages on all hosts.
func judgeHugePages(b *check.Builder, hosts []*host) {
	values := map[*host]string{}
	for _, h := range hosts {
		f := h.facts.fig.Host
		if f.HugePages == nil || f.HugePageKiB == nil {
			b.Unobserved(h.facts.obs.ID, h.name, remedyUnobserved, "does not report its reserved huge pages (/proc/meminfo)")
			continue
		}
		values[h] = fmt.Sprintf("%d huge pages of %d KiB", *f.HugePages, *f.HugePageKiB)
	}
	differs := differing(values)
	for _, h := range hosts {
		if d := differs[h]; d != "" {
			b.Fail(h.facts.obs.ID, h.name, remedyPages, "has reserved %s, %s", values[h], d)
		}
	}
}

// differing explains, for each host that differs, what it differs from: the value of more
// than half of the hosts or, without a majority, the values of the others. Then all hosts are
// named. A single host differs from none.
func differing(values map[*host]string) map[*host]string {
	votes := map[string]int{}
	for _, text := range values {
		votes[text]++
	}
	out := map[*host]string{}
	if len(votes) < 2 {
		return out
	}
	usual := most(votes)
	decided := 2*votes[usual] > len(values)
	for h, text := range values {
		switch {
		case !decided:
			others := slices.DeleteFunc(slices.Sorted(maps.Keys(votes)), func(t string) bool { return t == text })
			out[h] = "other nodes have " + strings.Join(others, " or ") + ", without a majority"
		case text != usual:
			out[h] = "most nodes have " + usual
		}
	}
	return out
}

// judgeTopology requires that each GPU is attached like the same GPU of the other nodes: by
// the same paths to other GPUs and the fabric's adapters, near the same CPUs. Hosts with
// another number of GPUs are skipped: they are reported already, and their numbers shift.
func (g *Gate) judgeTopology(b *check.Builder, hosts []*host, at slots) {
	for i := range g.gpus() {
		values := map[*host]string{}
		for _, h := range hosts {
			gpus := h.facts.fig.Host.GPUs
			doc, ok := h.latest()
			switch {
			case !ok || len(doc.log.GPUs) != g.gpus():
			case len(gpus) != g.gpus():
				if i == 0 {
					b.Unobserved(h.facts.obs.ID, h.name, remedyUnobserved, "nvidia-smi topo -m lists %d GPUs, expected %d", len(gpus), g.gpus())
				}
			default:
				values[h] = placeText(gpus[i], g.site.Fabric.HCAs)
			}
		}
		differs := differing(values)
		for _, h := range hosts {
			if d := differs[h]; d != "" {
				doc, _ := h.latest()
				b.Fail(h.facts.obs.ID, at.gpu(h, doc.log.GPUs[i].BusID), remedyTopology, "is attached differently from other nodes: %s; %s", values[h], d)
			}
		}
	}
}

// bonded matches a path over NVLinks. judgeNVLinks judges their number.
var bonded = regexp.MustCompile(`^NV\d+$`)

// placeText describes one GPU's row: "CPUs 0-55 0 N/A, NVLinks to GPU1, PIX to mlx5_0". It
// includes only the adapters of the compute fabric: others may differ between nodes.
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
