package node

import (
	"github.com/firstlight/firstlight/internal/check"
)

// judgeVersions requires the same driver and VBIOS on all hosts, and unique GPUs.
func (g *Gate) judgeVersions(b *check.Builder, hosts []*host, at slots) {
	const remedy = "bring the node to the same release as the others, then run the gate again"
	drivers := map[*host]string{}
	for _, h := range hosts {
		if doc, ok := h.latest(); ok {
			drivers[h] = "driver " + doc.log.Driver
		}
	}
	differs := differing(drivers)
	vbios := map[string]map[string]int{} // by product
	for _, h := range hosts {
		if doc, ok := h.latest(); ok {
			for _, gpu := range doc.log.GPUs {
				if vbios[gpu.Product] == nil {
					vbios[gpu.Product] = map[string]int{}
				}
				if gpu.VBIOS != "" {
					vbios[gpu.Product][gpu.VBIOS]++
				}
			}
		}
	}
	owner := map[string]string{}
	for _, h := range hosts {
		doc, ok := h.latest()
		if !ok {
			continue
		}
		switch got, want := doc.log.Driver, g.site.Inventory.DriverVersion; {
		case want != "" && got != want:
			b.Fail(doc.obs.ID, h.name, remedy, "driver is %s, expected %s (inventory.driverVersion of the site, or the accepted nodes)", got, want)
		case want == "" && differs[h] != "":
			b.Fail(doc.obs.ID, h.name, remedy, "driver is %s; %s", got, differs[h])
		}
		for _, gpu := range doc.log.GPUs {
			suspect := at.gpu(h, gpu.BusID)
			if len(g.accepted) > 0 {
				judgeAccepted(b, doc.obs, suspect, "VBIOS", gpu.Product, gpu.VBIOS, g.accepted[componentVBIOS(gpu.Product)])
			} else {
				judgeVBIOS(b, doc.obs, suspect, gpu.VBIOS, vbios[gpu.Product])
			}
			if other := owner[gpu.UUID]; other != "" && gpu.UUID != "" {
				b.Fail(doc.obs.ID, suspect, "correct the addresses of the site's inventory: two of them are of the same host", "is the same GPU as %s (%s)", other, gpu.UUID)
			}
			owner[gpu.UUID] = suspect
		}
	}
}

// judgeVBIOS requires the VBIOS of more than half of the GPUs of the product. Without a
// majority, all GPUs fail.
func judgeVBIOS(b *check.Builder, o check.Observation, suspect, got string, votes map[string]int) {
	const remedy = "bring the GPU's VBIOS to the version of the others (vendor's firmware package), then run the gate again"
	total := 0
	for _, n := range votes {
		total += n
	}
	want := most(votes)
	switch {
	case got == "":
		b.Unobserved(o.ID, suspect, remedyUnobserved, "reports no VBIOS version")
	case 2*votes[want] <= total:
		b.Fail(o.ID, suspect, remedy, "VBIOS is %s, %d of %d GPUs have it, without a majority", got, votes[got], total)
	case got != want:
		b.Fail(o.ID, suspect, remedy, "VBIOS is %s, expected %s (most GPUs)", got, want)
	}
}
