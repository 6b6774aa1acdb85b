package node

import (
	"fmt"
	"slices"
	"strings"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/probe/infiniband"
)

const (
	remedyNVLink = "drain the node, check nvidia-fabricmanager and the kernel log for NVLink errors (Xid 74, SXid), reset the GPUs of the node together; if links stay down, replace the board"
	remedyHCA    = "check cable and transceiver of the port at both ends, reseat them, and run the fabric gate"
)

// judgeNVLinks requires that every link of every GPU is active at its rate.
func (g *Gate) judgeNVLinks(b *check.Builder, h *host, at slots) {
	want := int(g.profile.GPU.NVLinks.Value)
	if !h.links.ok() || want == 0 {
		return
	}
	o := h.links.obs
	shown := map[string]bool{}
	off := 0
	for _, gpu := range h.links.fig.GPUs {
		shown[gpu.UUID] = true
		if g.linksOff(h, gpu) {
			off++
			continue
		}
		suspect := fmt.Sprintf("%s/gpu%d", h.name, gpu.Index)
		if bus := h.bus(gpu.UUID); bus != "" {
			suspect = at.gpu(h, bus)
		}
		var down []string
		for _, l := range gpu.Links {
			switch {
			case !l.Active:
				down = append(down, fmt.Sprintf("link %d is down", l.Number))
			case l.GBps < g.profile.GPU.NVLinkRate.Value:
				down = append(down, fmt.Sprintf("link %d runs at %g GB/s, expected %g", l.Number, l.GBps, g.profile.GPU.NVLinkRate.Value))
			}
		}
		switch {
		case gpu.AllInactive:
			b.Fail(o.ID, suspect, remedyNVLink, "all NVLinks are inactive, expected %d", want)
		case len(down) > 0:
			b.Fail(o.ID, suspect, remedyNVLink, "%d of %d NVLinks at rate: %s", len(gpu.Links)-len(down), want, strings.Join(down, ", "))
		case len(gpu.Links) != want:
			b.Fail(o.ID, suspect, remedyNVLink, "has %d NVLinks, expected %d", len(gpu.Links), want)
		}
	}
	if off > 0 {
		b.Note(o.ID, h.name, "", "the NVLinks of %d GPUs are off, as MIG mode leaves them: they are not judged", off)
	}
	doc, ok := h.latest()
	if !ok {
		return
	}
	for _, gpu := range doc.log.GPUs {
		if !shown[gpu.UUID] {
			b.Unobserved(o.ID, at.gpu(h, gpu.BusID), remedyUnobserved, "its NVLinks are not listed")
		}
	}
}

// bus is the bus ID of the GPU with a UUID.
func (h *host) bus(uuid string) string {
	for _, doc := range h.documents() {
		for _, gpu := range doc.log.GPUs {
			if gpu.UUID == uuid {
				return gpu.BusID
			}
		}
	}
	return ""
}

// fabricPort is an adapter's port on the compute fabric. Another port may be idle.
const fabricPort = 1

func portOnFabric(hca infiniband.HCA) (infiniband.HCAPort, bool) {
	i := slices.IndexFunc(hca.Ports, func(p infiniband.HCAPort) bool { return p.Number == fabricPort })
	if i < 0 {
		return infiniband.HCAPort{}, false
	}
	return hca.Ports[i], true
}

// judgeHCAs requires that the port of every adapter of the compute fabric is Active at its rate.
func (g *Gate) judgeHCAs(b *check.Builder, h *host) {
	if !h.hcas.ok() {
		return
	}
	found := map[string]infiniband.HCA{}
	for _, hca := range h.hcas.fig.HCAs {
		found[hca.Name] = hca
	}
	for _, name := range g.site.Fabric.HCAs {
		suspect := h.name + "/" + name
		hca, ok := found[name]
		if !ok || len(hca.Ports) == 0 {
			b.Fail(h.hcas.obs.ID, suspect, "check lspci and the kernel log for the adapter, reseat or replace it; or correct fabric.hcas of the site", "is missing")
			continue
		}
		p, ok := portOnFabric(hca)
		if !ok {
			b.Unobserved(h.hcas.obs.ID, suspect, remedyUnobserved, "has no port %d in ibstat's output", fabricPort)
			continue
		}
		g.judgePort(b, h.hcas.obs, suspect, p)
	}
}

func (g *Gate) judgePort(b *check.Builder, o check.Observation, suspect string, p infiniband.HCAPort) {
	want := g.profile.Fabric.Rate.Value
	switch {
	case !p.Up():
		b.Fail(o.ID, suspect, remedyHCA, "is %s (physical state %s), expected Active and LinkUp", p.State, p.PhysicalState)
	case float64(p.RateGbps) < want:
		b.Fail(o.ID, suspect, remedyHCA, "runs at %d Gb/s, expected %g", p.RateGbps, want)
	}
}
