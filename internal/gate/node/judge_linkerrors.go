package node

import (
	"fmt"
	"maps"
	"slices"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/probe/nvidia"
)

// judgeLinkErrors compares the error counters of NVLinks before and after the diagnostic, or of two
// rounds of a watch: a link may be up at its rate and still retransmit packets.
func (g *Gate) judgeLinkErrors(b *check.Builder, h *host, at slots) {
	before, after := h.linkErrors[0], h.linkErrors[1]
	if !g.nvlinks() || !before.ok() || !after.ok() {
		return // reported by judgeUnobserved
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
			g.judgeLinkCounters(b, h, suspect, was[gpu.UUID], link)
		}
		if n := h.notCounted(gpu); n > 0 {
			b.Unobserved(o.ID, suspect, remedyNVLink, "the error counters of %d of its NVLinks are missing %s, as for links that are down", n, g.span().after)
		}
	}
	doc, ok := h.latest()
	if !ok {
		return
	}
	for _, gpu := range doc.log.GPUs {
		if !seen[gpu.UUID] {
			b.Unobserved(o.ID, at.gpu(h, gpu.BusID), remedyUnobserved, "the error counters of its NVLinks are missing")
		}
	}
}

// notCounted is the number of NVLinks of a GPU that were active before the diagnostic and have
// no counters after it.
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

// judgeLinkCounters compares the growth of one link's counters with the profile's limits.
func (g *Gate) judgeLinkCounters(b *check.Builder, h *host, suspect string, before nvidia.NVLinkErrors, link nvidia.LinkErrors) {
	o := h.linkErrors[1].obs
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
			b.Unobserved(o.ID, suspect, remedyUnobserved, "NVLink %d does not count %s %s", link.Number, name, g.span().both)
		case now < was:
			b.Unobserved(o.ID, suspect, remedyUnobserved, "NVLink %d: %s decreased %s, from %d to %d: the counter was reset", link.Number, name, g.span().during, was, now)
		case float64(now-was) > limit.Value:
			b.Fail(o.ID, suspect, remedyNVLink, "NVLink %d: %s grew by %d %s, expected at most %g", link.Number, name, now-was, g.span().during, limit.Value)
		}
	}
}
