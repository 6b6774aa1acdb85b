package node

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/probe/linuxhost"
)

const (
	remedyACS   = "on bare metal, switch ACS off on these bridges at each boot (setpci -s BRIDGE ECAP_ACS+6.w=0), or virtualisation of I/O in the BIOS: NCCL's troubleshooting, PCI Access Control Services"
	remedyIOMMU = "boot with iommu=pt, or with the IOMMU off in the BIOS: GPUDirect RDMA needs the same addresses on both sides"
	remedyLspci = "install pciutils on the host and let the site's user run the command as root (firstlight accept sudoers)"
)

// judgePeers requires that the traffic between GPUs and adapters does not take the way through the processor. A virtual
// machine does not see the bridges and the IOMMU of its host, where ACS must be on.
func (g *Gate) judgePeers(b *check.Builder, h *host, at slots) {
	if !g.peers() || h.facts.ok() && h.facts.fig.Host.Virtual {
		return
	}
	judgeIOMMU(b, h)
	switch doc, ok := h.latest(); {
	case strings.HasSuffix(h.bridges.reason, notRun): // a watch, or a host that stopped answering
	case !h.bridges.ok():
		b.Note(h.bridges.obs.ID, h.name, remedyLspci, "ACS of its PCIe bridges is not known: %s", h.bridges.reason)
	case slices.ContainsFunc(h.bridges.fig.Bridges, func(p linuxhost.Bridge) bool { return p.Denied }):
		b.Note(h.bridges.obs.ID, h.name, remedyLspci, "ACS of its PCIe bridges is not known: lspci shows capabilities to root only")
	case ok:
		for _, gpu := range doc.log.GPUs {
			if ports := redirecting(h.bridges.fig.Bridges, gpu.BusID); len(ports) > 0 {
				b.Fail(h.bridges.obs.ID, at.gpu(h, gpu.BusID), remedyACS, "PCIe ACS redirects its peer-to-peer traffic through the root complex, at ports of its switch: %s", some(ports))
			}
		}
	}
}

// judgeIOMMU fails a translating IOMMU of an x86 host: other architectures need the translation for their GPUs.
func judgeIOMMU(b *check.Builder, h *host) {
	if !h.facts.ok() || h.facts.fig.Host.Processor == "" {
		return
	}
	var devices []string
	kinds := map[string]bool{}
	for device, kind := range h.facts.fig.Host.IOMMU {
		if strings.HasPrefix(kind, translated) {
			devices, kinds[kind] = append(devices, device), true
		}
	}
	if len(devices) > 0 {
		slices.Sort(devices)
		b.Fail(h.facts.obs.ID, h.name, remedyIOMMU, "the IOMMU translates the addresses of GPUs and adapters (type %s), expected identity: %s",
			strings.Join(slices.Sorted(maps.Keys(kinds)), ", "), some(devices))
	}
}

// translated begins the types of IOMMU groups with translation: DMA and DMA-FQ.
const translated = "DMA"

// redirecting are the ports of a GPU's switch whose ACS redirects peer-to-peer traffic. A root port does not count: the
// traffic of different root ports takes the root complex anyway.
func redirecting(bridges []linuxhost.Bridge, gpu string) []string {
	var out []string
	for _, p := range linuxhost.SwitchOf(bridges, gpu) {
		if len(p.Redirects) > 0 {
			out = append(out, p.Address)
		}
	}
	return out
}

// some are the first of a list.
func some(names []string) string {
	const most = 4
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
}
