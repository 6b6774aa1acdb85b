package host

import (
	"slices"
	"strings"

	"github.com/firstlight/firstlight/internal/world"
)

// Exit codes of nvidia-smi for an unreachable GPU (return code 15 in its documentation) and for a
// failed NVML initialisation.
const (
	exitLostGPU = 15
	exitNoNVML  = 18
)

// nvidiaSMI supports -q -x, --query-gpu, --query-remapped-rows, --query-compute-apps, -L, nvlink -s and -e, topo -m.
func nvidiaSMI(c *call) int {
	if len(c.node.GPUs) == 0 {
		c.errorf("bash: nvidia-smi: command not found\n")
		return 127
	}
	if c.node.NVMLError != "" {
		c.printf("%s\n", c.node.NVMLError)
		return exitNoNVML
	}
	gpus := c.visible()
	exit := 0
	for _, g := range c.node.GPUs {
		if g.Present && g.Lost {
			c.errorf("Unable to determine the device handle for GPU%s: Unknown Error\n", g.BusID)
			exit = exitLostGPU
		}
	}
	if query, ok := c.option("--query-gpu"); ok {
		return max(exit, c.smiQuery(query, gpus, gpuFields()))
	}
	if query, ok := c.option("--query-remapped-rows"); ok {
		return max(exit, c.smiQuery(query, gpus, remapFields()))
	}
	if query, ok := c.option("--query-compute-apps"); ok {
		return max(exit, c.smiQuery(query, occupied(gpus), processFields()))
	}
	c.smiReport(gpus)
	return exit
}

// smiReport prints everything other than a CSV query.
func (c *call) smiReport(gpus []world.GPU) {
	switch {
	case c.has("-L", "--list-gpus"):
		for i, g := range gpus {
			c.printf("GPU %d: %s (UUID: %s)\n", i, c.node.Hardware.GPU.Product, g.UUID)
		}
	case c.has("topo"):
		c.smiTopology(gpus)
	case c.has("nvlink") && c.has("-e", "--errorcounters"):
		c.smiNVLinkErrors(gpus)
	case c.has("nvlink"):
		c.smiNVLink(gpus)
	case c.has("-q", "--query") && c.has("-x", "--xml-format"), c.has("-qx", "-xq", "-x"):
		c.smiXML(gpus)
	default:
		c.smiTable(gpus)
	}
}

// visible returns the GPUs that NVML can open, in its numbering.
func (c *call) visible() []world.GPU {
	var out []world.GPU
	for _, g := range c.node.GPUs {
		if g.Usable() {
			out = append(out, g)
		}
	}
	return out
}

// option parses "--name=value" or "--name value".
func (c *call) option(name string) (string, bool) {
	for i, a := range c.args {
		if v, ok := strings.CutPrefix(a, name+"="); ok {
			return v, true
		}
		if a == name && i+1 < len(c.args) {
			return c.args[i+1], true
		}
	}
	return "", false
}

func (c *call) smiNVLink(gpus []world.GPU) {
	for i, g := range gpus {
		c.printf("GPU %d: %s (UUID: %s)\n", i, c.node.Hardware.GPU.Product, g.UUID)
		if !slices.Contains(g.NVLinkUp, true) {
			c.printf("NVML: Unable to retrieve NVLink information as all links are inActive\n")
			continue
		}
		for l, up := range g.NVLinkUp {
			if up {
				c.printf("\t Link %d: %g GB/s\n", l, c.node.Hardware.GPU.NVLinkGBps)
			} else {
				c.printf("\t Link %d: <inactive>\n", l)
			}
		}
	}
}

// faultyLink is the NVLink of GPU.LinkErrors.
const faultyLink = 4

// nvlink5Counters are counters of NVLink 5 in the order of nvidia-smi, without those of traffic and FEC.
var nvlink5Counters = []string{
	"Malformed packet Errors", "Buffer overrun Errors", "Rx Errors", "Rx remote Errors", "Rx General Errors", "Local link integrity Errors", "Tx discards",
	"Link recovery successful events", "Link recovery failed events", "Total link recovery events", "Effective Errors", "Symbol Errors",
}

func (c *call) smiNVLinkErrors(gpus []world.GPU) {
	for i, g := range gpus {
		c.printf("GPU %d: %s (UUID: %s)\n", i, c.node.Hardware.GPU.Product, g.UUID)
		for l, up := range g.NVLinkUp {
			if !up {
				continue
			}
			replays := uint64(0)
			if l == faultyLink {
				replays = g.LinkErrors
			}
			if c.node.Hardware.GPU.Architecture == "Blackwell" { // NVLink 5 repeats packets in hardware, and counts other errors
				for _, name := range nvlink5Counters {
					count := uint64(0)
					if name == "Rx Errors" {
						count = replays
					}
					c.printf("\t Link %d: %s: %d\n", l, name, count)
				}
				c.printf("\n")
				continue
			}
			c.printf("\t Link %d: Replay Errors: %d\n\t Link %d: Recovery Errors: 0\n\t Link %d: CRC Errors: 0\n\n", l, replays, l, l)
		}
	}
}

// smiTable is a shortened default table.
func (c *call) smiTable(gpus []world.GPU) {
	const rule = "+-----------------------------------------------------------------------------------------+\n"
	c.printf("%s", c.state.Now.UTC().Format("Mon Jan _2 15:04:05 2006\n"))
	c.printf("%s", rule)
	c.printf("| NVIDIA-SMI %-22s Driver Version: %-14s CUDA Version: %-9s|\n", c.node.Driver, c.node.Driver, c.node.CUDA)
	c.printf("%s", strings.ReplaceAll(rule, "-", "="))
	for i, g := range gpus {
		c.printf("| %3d  %-28s %-18s %3.0fC  %4.0fW / %3.0fW  %5d%%    |\n",
			i, c.node.Hardware.GPU.Product, longBus(g.BusID), g.Temp, g.Power, g.PowerLimit, g.Util)
		c.printf("| %40s %8dMiB / %6dMiB %26s |\n", "", g.MemUsedMiB, c.node.Hardware.GPU.MemoryMiB, "")
	}
	c.printf("%s", rule)
}

// longBus is a bus ID with NVML's eight-digit domain.
func longBus(id string) string { return "0000" + id }
