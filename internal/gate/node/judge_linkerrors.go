package node

import (
	"fmt"
	"maps"
	"slices"

	"github.com/firstlight/firstlight/internal/probe/nvidia"
)

// judgeLinkErrors compares the error counters of NVLinks before the diagnostic with those
// after it: a link may be up at its rate and repeat every other packet.
func (g *Gate) judgeLinkErrors(v *verdict, h *host, at places) {
	before, after := h.counted[0], h.counted[1]
	if !g.nvlinks() || !before.ok() || !after.ok() {
		return // judgeSeen has said so
	}
	o := after.obs
	was := map[string]nvidia.NVLinkErrors{}
	for _, gpu := range before.fig.GPUs {
		was[gpu.UUID] = gpu
	}
	seen := map[string]bool{}
	for _, gpu := range after.fig.GPUs {
		seen[gpu.UUID] = true
		suspect := fmt.Sprintf("%s/gpu%d", h.name, gpu.Index)
		if bus := h.bus(gpu.UUID); bus != "" {
			suspect = at.gpu(h, bus)
		}
		for _, link := range gpu.Links {
			g.judgeLinkCounters(v, h, suspect, was[gpu.UUID], link)
		}
		if n := h.notCounted(gpu); n > 0 {
			v.miss(o, suspect, fmt.Sprintf("the error counters of %d of its NVLinks are not shown after the diagnostic: a link that went down has none", n), remedyNVLink)
		}
	}
	doc, ok := h.latest()
	if !ok {
		return
	}
	for _, gpu := range doc.log.GPUs {
		if !seen[gpu.UUID] {
			v.miss(o, at.gpu(h, gpu.BusID), "the error counters of its NVLinks are not shown", remedyUnseen)
		}
	}
}

// notCounted is how many NVLinks of a GPU were active before the diagnostic and have no
// counters in what was shown after it.
func (h *host) notCounted(shown nvidia.NVLinkErrors) int {
	n := 0
	for _, gpu := range h.links.fig.GPUs {
		for _, link := range gpu.Links {
			if gpu.UUID == shown.UUID && link.Active && !slices.ContainsFunc(shown.Links, func(l nvidia.LinkErrors) bool { return l.Number == link.Number }) {
				n++
			}
		}
	}
	return n
}

// judgeLinkCounters holds the increases of one link against the profile's limits.
func (g *Gate) judgeLinkCounters(v *verdict, h *host, suspect string, before nvidia.NVLinkErrors, link nvidia.LinkErrors) {
	o := h.counted[1].obs
	i := slices.IndexFunc(before.Links, func(l nvidia.LinkErrors) bool { return l.Number == link.Number })
	for _, name := range slices.Sorted(maps.Keys(g.profile.GPU.NVLinkErrorLimits)) {
		limit := g.profile.GPU.NVLinkErrorLimits[name]
		now, counted := link.Counters[name]
		was, still := int64(0), false
		if i >= 0 {
			was, still = before.Links[i].Counters[name]
		}
		switch {
		case !counted || !still:
			v.miss(o, suspect, fmt.Sprintf("NVLink %d does not count %s on both sides of the diagnostic", link.Number, name), remedyUnseen)
		case now < was:
			v.miss(o, suspect, fmt.Sprintf("NVLink %d: %s fell during the diagnostic, from %d to %d: the counter was reset", link.Number, name, was, now), remedyUnseen)
		case float64(now-was) > limit.Value:
			v.fail(o, suspect, fmt.Sprintf("NVLink %d: %s grew by %d during the diagnostic, expected at most %g", link.Number, name, now-was, limit.Value), remedyNVLink)
		}
	}
}
