package node

import (
	"slices"
	"strings"

	"github.com/firstlight/firstlight/internal/check"
)

// judgeFirmware requires the firmware of the accepted nodes on the adapters of their types. Other types
// are refused on the compute fabric only.
func (g *Gate) judgeFirmware(b *check.Builder, h *host) {
	if len(g.accepted) == 0 || !h.hcas.ok() {
		return
	}
	for _, hca := range h.hcas.fig.HCAs {
		accepted := g.accepted[componentFirmware(hca.Type)]
		if len(accepted) > 0 || slices.Contains(g.site.Fabric.HCAs, hca.Name) {
			judgeAccepted(b, h.hcas.obs, h.name+"/"+hca.Name, "firmware", hca.Type, hca.Firmware, accepted)
		}
	}
}

// judgeAccepted requires a version of the accepted nodes; kind is VBIOS or firmware, of what the product
// or the type.
func judgeAccepted(b *check.Builder, o check.Observation, suspect, kind, of, got string, accepted []string) {
	const remedy = "bring the new node to the hardware and the versions of the accepted nodes; or change these first, and accept the cluster again"
	switch {
	case len(accepted) == 0:
		b.Fail(o.ID, suspect, remedy, "is %s, and no accepted node has a %s of it", of, kind)
	case got == "":
		b.Unobserved(o.ID, suspect, remedyUnobserved, "reports no %s version", kind)
	case !slices.Contains(accepted, got):
		b.Fail(o.ID, suspect, remedy, "%s of %s is %s, expected %s (accepted nodes)", kind, of, got, strings.Join(accepted, " or "))
	}
}
