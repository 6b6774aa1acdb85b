package host

import (
	"cmp"
	"strconv"

	"github.com/firstlight/firstlight/internal/world/fabric"
)

// sminfo queries the subnet manager of the host's first active port, or the one at a LID. It
// prints "iberror" to standard output as the real tool does.
func sminfo(c *call) int {
	port, ok := c.firstActive()
	if !ok {
		c.cannotOpen()
		c.printf("sminfo: iberror: failed: Failed to open '(null)' port '0'\n")
		return 255
	}
	lid := port.SMLID
	for i, a := range c.args {
		if n, err := strconv.ParseInt(a, 0, 32); err == nil && (i == 0 || c.args[i-1] != "-P") {
			lid = int(n)
		}
	}
	for _, sm := range c.state.SMs {
		if sm.LID != lid || sm.Silent {
			continue
		}
		c.printf("sminfo: sm lid %d sm guid 0x%x, activity count %d priority %d state %d %s\n",
			sm.LID, sm.GUID, sm.Activity, sm.Priority, sm.State, smStateName(sm.State))
		return 0
	}
	c.errorf("ibwarn: [1] mad_rpc: _do_madrpc failed; dport (Lid %d)\n", lid)
	c.printf("sminfo: iberror: failed: query\n")
	return 255
}

// cannotOpen prints what libibumad and libibmad say without a port.
func (c *call) cannotOpen() {
	if c.node.NoUMAD {
		c.errorf("ibwarn: [1] get_abi_version: can't read ABI version from /sys/class/infiniband_mad/abi_version (No such file or directory): is ib_umad module loaded?\n")
	}
	c.errorf("ibwarn: [1] mad_rpc_open_port: can't open UMAD port ((null):0)\n")
}

// firstActive is the port of the tools: that of -C or -i, or the first with its link up. Without the module
// ib_umad, they find none.
func (c *call) firstActive() (fabric.HCA, bool) {
	if c.node.NoUMAD || c.node.Hardware.Fabric.Ethernet != nil || c.node.Hardware.Fabric.EFA != nil {
		return fabric.HCA{}, false
	}
	named := cmp.Or(valueOf(c, "-C"), valueOf(c, "-i"))
	for _, want := range []string{fabric.StateActive, fabric.StateInit} {
		for _, h := range c.node.HCAs {
			if h.State == want && (named == "" || h.Name == named) {
				return h, true
			}
		}
	}
	return fabric.HCA{}, false
}

func smStateName(state int) string {
	switch state {
	case fabric.SMMaster:
		return "SMINFO_MASTER"
	case fabric.SMStandby:
		return "SMINFO_STANDBY"
	case fabric.SMDiscovering:
		return "SMINFO_DISCOVER"
	default:
		return "SMINFO_NOTACT"
	}
}
