package host

import (
	"fmt"
	"strings"

	"github.com/firstlight/firstlight/internal/world"
)

// smiTopology is nvidia-smi topo -m: adapter N is on the PCIe switch of GPU N, as in HGX boards,
// unless that GPU is attached to another socket.
func (c *call) smiTopology(gpus []world.GPU) {
	const underline, plain = "\x1b[4m", "\x1b[0m"
	nics := len(c.node.HCAs)
	var heads []string
	for i := range gpus {
		heads = append(heads, fmt.Sprintf("GPU%d", i))
	}
	for i := range nics {
		heads = append(heads, fmt.Sprintf("NIC%d", i))
	}
	c.printf("\t%s%s\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID%s\n", underline, strings.Join(heads, "\t"), plain)
	for i, g := range gpus {
		row := []string{fmt.Sprintf("GPU%d", i)}
		for j, o := range gpus {
			row = append(row, c.between(i == j, g, o))
		}
		for n := range nics {
			row = append(row, c.toAdapter(g, n))
		}
		c.printf("%s\t%s\t%d\t\tN/A\n", strings.Join(row, "\t"), c.cpus(g.Socket), g.Socket)
	}
	for n := range nics {
		row := []string{fmt.Sprintf("NIC%d", n)}
		for _, g := range gpus {
			row = append(row, c.toAdapter(g, n))
		}
		for m := range nics {
			switch {
			case n == m:
				row = append(row, " X ")
			case c.adapterSocket(n) == c.adapterSocket(m):
				row = append(row, "NODE")
			default:
				row = append(row, "SYS")
			}
		}
		c.printf("%s\t\t\t\t\n", strings.Join(row, "\t"))
	}
	c.printf("\nLegend:\n\n  X    = Self\n")
	for _, l := range [][2]string{
		{"SYS", "Connection traversing PCIe as well as the SMP interconnect between NUMA nodes (e.g., QPI/UPI)"},
		{"NODE", "Connection traversing PCIe as well as the interconnect between PCIe Host Bridges within a NUMA node"},
		{"PHB", "Connection traversing PCIe as well as a PCIe Host Bridge (typically the CPU)"},
		{"PXB", "Connection traversing multiple PCIe bridges (without traversing the PCIe Host Bridge)"},
		{"PIX", "Connection traversing at most a single PCIe bridge"},
		{"NV#", "Connection traversing a bonded set of # NVLinks"},
	} {
		c.printf("  %-4s = %s\n", l[0], l[1])
	}
	if nics > 0 {
		c.printf("\nNIC Legend:\n\n")
		for n, h := range c.node.HCAs {
			c.printf("  NIC%d: %s\n", n, h.Name)
		}
		c.printf("\n")
	}
}

func (c *call) between(self bool, a, b world.GPU) string {
	links := min(up(a), up(b))
	switch {
	case self:
		return " X "
	case links > 0:
		return fmt.Sprintf("NV%d", links)
	case a.Socket == b.Socket:
		return "NODE"
	default:
		return "SYS"
	}
}

func up(g world.GPU) int {
	n := 0
	for _, on := range g.NVLinkUp {
		if on {
			n++
		}
	}
	return n
}

func (c *call) toAdapter(g world.GPU, n int) string {
	switch {
	case c.adapterSocket(n) != g.Socket:
		return "SYS"
	case n == g.Index:
		return "PIX"
	default:
		return "NODE"
	}
}

func (c *call) adapterSocket(n int) int {
	return n * c.node.Hardware.Node.Sockets / len(c.node.HCAs)
}

func (c *call) cpus(socket int) string {
	each := c.node.Hardware.Node.CPUs / c.node.Hardware.Node.Sockets
	return fmt.Sprintf("%d-%d", socket*each, (socket+1)*each-1)
}
