package node

import (
	"fmt"

	"github.com/firstlight/firstlight/internal/check"
)

// judgeSame: one driver and one VBIOS in the whole set, and every GPU seen once.
func (g *Gate) judgeSame(v *verdict, hosts []*host, at places) {
	const remedy = "bring the node to the same release as the others, then run the gate again"
	want, why := g.site.Inventory.DriverVersion, "the site's inventory.driverVersion"
	if want == "" {
		votes := map[string]int{}
		for _, h := range hosts {
			if doc, ok := h.latest(); ok {
				votes[doc.log.Driver]++
			}
		}
		want, why = most(votes), "most nodes"
	}
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
		if got := doc.log.Driver; got != want {
			v.fail(doc.obs, h.name, fmt.Sprintf("driver is %s, expected %s (%s)", got, want, why), remedy)
		}
		for _, gpu := range doc.log.GPUs {
			suspect := at.gpu(h, gpu.BusID)
			g.judgeVBIOS(v, doc.obs, suspect, gpu.VBIOS, most(vbios[gpu.Product]))
			if other := owner[gpu.UUID]; other != "" && gpu.UUID != "" {
				v.fail(doc.obs, suspect, fmt.Sprintf("is the same GPU as %s (%s)", other, gpu.UUID), "correct the addresses of the site's inventory: two of them lead to one host")
			}
			owner[gpu.UUID] = suspect
		}
	}
}

func (g *Gate) judgeVBIOS(v *verdict, o check.Observation, suspect, got, want string) {
	switch {
	case got == "":
		v.miss(o, suspect, "reports no VBIOS version", remedyUnseen)
	case got != want:
		v.fail(o, suspect, fmt.Sprintf("VBIOS is %s, expected %s (most GPUs)", got, want), "bring the GPU's VBIOS to the version of the others (vendor's firmware package), then run the gate again")
	}
}
