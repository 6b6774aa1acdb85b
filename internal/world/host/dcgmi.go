package host

import (
	"strconv"
	"strings"

	"github.com/firstlight/firstlight/internal/world"
)

// dcgmi exit codes: a dcgmReturn_t modulo 256.
const (
	exitNVML        = 248 // DCGM_ST_NVML_ERROR
	exitTestFailed  = 226 // DCGM_ST_NVVS_ERROR
	exitIsolate     = 205 // DCGM_ST_NVVS_ISOLATE_ERROR
	exitDCGMBadArgs = 255 // DCGM_ST_BADPARAM

	exitNoConnection = 235 // DCGM_ST_CONNECTION_NOT_VALID
)

// dcgmi supports diag, discovery and nvlink.
func dcgmi(c *call) int {
	if len(c.node.GPUs) == 0 {
		c.errorf("bash: dcgmi: command not found\n")
		return 127
	}
	version := c.node.Hardware.Software.DCGM4
	if c.node.DCGMMajor == 3 {
		version = c.node.Hardware.Software.DCGM3
	}
	if c.has("--version", "-v") {
		c.printf("\ndcgmi  version: %s\n", version)
		return 0
	}
	if c.node.NoHostEngine {
		c.printf("Error: unable to establish a connection to the specified host: localhost\nError: Unable to connect to host engine. Host engine connection invalid/disconnected.\n")
		return exitNoConnection
	}
	if c.node.NVMLError != "" {
		c.printf("Error: unable to establish a connection to the specified host: localhost\n")
		c.errorf("Error: Unable to connect to host engine. NVML error: %s.\n", strings.SplitN(c.node.NVMLError, "\n", 2)[0])
		return exitNVML
	}
	switch {
	case c.has("diag"):
		return c.diag(version)
	case c.has("discovery"):
		return c.discovery()
	case c.has("nvlink"):
		return c.dcgmNVLink()
	}
	c.errorf("PARSE ERROR: Couldn't find match for argument\n")
	return exitDCGMBadArgs
}

// entities returns DCGM's GPUs: those enumerated at boot, including lost ones.
func (c *call) entities() []world.GPU {
	var out []world.GPU
	for _, g := range c.node.GPUs {
		if g.Present {
			out = append(out, g)
		}
	}
	return out
}

func (c *call) discovery() int {
	const rule = "+--------+----------------------------------------------------------------------+\n"
	gpus := c.entities()
	c.printf("%d GPUs found.\n%s| GPU ID | Device Information                                                   |\n%s", len(gpus), rule, rule)
	for i, g := range gpus {
		c.printf("| %-6d | %-68s |\n", i, "Name: "+c.node.Hardware.GPU.Product)
		c.printf("| %-6s | %-68s |\n", "", "PCI Bus ID: "+longBus(g.BusID))
		c.printf("| %-6s | %-68s |\n%s", "", "Device UUID: "+g.UUID, rule)
	}
	c.printf("%d NvSwitches found.\n", c.switches())
	return 0
}

// switches returns the number of NVSwitches: four connect a host's NVLinks.
func (c *call) switches() int {
	if c.node.Hardware.GPU.NVLinks == 0 {
		return 0
	}
	return 4
}

func (c *call) dcgmNVLink() int {
	c.printf("+----------------------+\n|  NvLink Link Status  |\n+----------------------+\nGPUs:\n")
	for i, g := range c.entities() {
		c.printf("    gpuId %d:\n        ", i)
		var marks []string
		for _, up := range g.NVLinkUp {
			switch {
			case g.Lost:
				marks = append(marks, "X")
			case up:
				marks = append(marks, "U")
			default:
				marks = append(marks, "D")
			}
		}
		c.printf("%s\n", strings.Join(marks, " "))
	}
	c.printf("\nKey: Up=U, Down=D, Disabled=X, Not Supported=_\n")
	return 0
}

// level parses -r N; default 1.
func (c *call) level() (int, bool) {
	for i, a := range c.args {
		text, ok := strings.CutPrefix(a, "-r")
		if !ok {
			text, ok = strings.CutPrefix(a, "--run")
		}
		if !ok {
			continue
		}
		text = strings.TrimPrefix(text, "=")
		if text == "" && i+1 < len(c.args) {
			text = c.args[i+1]
		}
		n, err := strconv.Atoi(text)
		return n, err == nil && n >= 1 && n <= 4
	}
	return 1, true
}
