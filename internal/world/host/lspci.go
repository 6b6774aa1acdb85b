package host

import (
	"fmt"
	"slices"
	"strings"
)

// lspci supports lspci -D -vvv -d ::0604: the PCI bridges, shortened. Each GPU shares a switch with the adapter of its
// number. On arm64 each GPU has a root port, and no switch. A virtual machine shows no bridges. The format is that of pciutils (lspci.c, ls-caps.c, ls-ecaps.c).
func lspci(c *call) int {
	if !c.has("::0604") || !c.has("-vvv") {
		c.errorf("lspci: this host's lspci knows -D -vvv -d ::0604 only\n")
		return 1
	}
	if c.node.IOMMU == "" {
		return 0
	}
	if c.node.Machine() != "x86_64" {
		for _, g := range c.node.GPUs {
			domain, _, _ := strings.Cut(g.BusID, ":")
			c.bridge(strings.ToLower(domain)+":00:00.0", "NVIDIA Corporation Device 22b8", busOf(g.BusID), busOf(g.BusID), "Root Port (Slot+)", false)
		}
		return 0
	}
	for i, g := range c.node.GPUs {
		below := []int{busOf(g.BusID)}
		if i < len(c.node.HCAs) {
			below = append(below, busOf(c.node.HCAs[i].BusID))
		}
		slices.Sort(below)
		first, last := below[0], below[len(below)-1]
		c.bridge(fmt.Sprintf("0000:%02x:01.0", first-3), "Intel Corporation Device 352a", first-2, last, "Root Port (Slot+)", true)
		c.bridge(fmt.Sprintf("0000:%02x:00.0", first-2), plx, first-1, last, "Upstream Port", false)
		for j, bus := range below {
			c.bridge(fmt.Sprintf("0000:%02x:%02x.0", first-1, j), plx, bus, bus, "Downstream Port (Slot+)", c.node.ACS)
		}
	}
	return 0
}

const plx = "Broadcom / LSI PEX890xx PCIe Gen 5 Switch"

// bridge prints one bridge. An upstream port has no ACS.
func (c *call) bridge(address, name string, first, last int, port string, redirects bool) {
	_, rest, _ := strings.Cut(address, ":")
	primary, _, _ := strings.Cut(rest, ":")
	c.printf("%s PCI bridge: %s (rev b0) (prog-if 00 [Normal decode])\n", address, name)
	c.printf("\tControl: I/O+ Mem+ BusMaster+ SpecCycle- MemWINV- VGASnoop- ParErr- Stepping- SERR+ FastB2B- DisINTx+\n")
	c.printf("\tBus: primary=%s, secondary=%02x, subordinate=%02x, sec-latency=0\n", primary, first, last)
	c.printf("\tCapabilities: [68] Express (v2) %s, MSI 00\n", port)
	if port != "Upstream Port" {
		sign := map[bool]string{true: "+", false: "-"}[redirects]
		c.printf("\tCapabilities: [170 v1] Access Control Services\n")
		c.printf("\t\tACSCap:\tSrcValid+ TransBlk+ ReqRedir+ CmpltRedir+ UpstreamFwd+ EgressCtrl+ DirectTrans+\n")
		c.printf("\t\tACSCtl:\tSrcValid%[1]s TransBlk- ReqRedir%[1]s CmpltRedir%[1]s UpstreamFwd%[1]s EgressCtrl- DirectTrans-\n", sign)
	}
	c.printf("\tKernel driver in use: pcieport\n\n")
}

// busOf is the bus of a device's address.
func busOf(address string) int {
	var bus int
	if _, err := fmt.Sscanf(address[strings.Index(address, ":")+1:], "%x:", &bus); err != nil {
		return 0
	}
	return bus
}

// cpuinfo is a shortened /proc/cpuinfo.
func (c *call) cpuinfo() string {
	var b strings.Builder
	for i := range c.node.Hardware.Node.CPUs {
		if c.node.Machine() != "x86_64" {
			fmt.Fprintf(&b, "processor\t: %d\nCPU implementer\t: 0x41\nCPU architecture: 8\n\n", i)
			continue
		}
		flags := "fpu vme de pse"
		if c.node.IOMMU == "" {
			flags += " hypervisor"
		}
		fmt.Fprintf(&b, "processor\t: %d\nvendor_id\t: GenuineIntel\nflags\t\t: %s\n\n", i, flags)
	}
	return b.String()
}
