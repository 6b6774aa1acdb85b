package host

import (
	"fmt"

	"github.com/firstlight/firstlight/internal/world/fabric"
)

// ibvDevinfo prints all RDMA devices or the one of -d; -l lists names.
func ibvDevinfo(c *call) int {
	if len(c.node.HCAs) == 0 {
		c.errorf("No IB devices found\n")
		return 255
	}
	if c.has("-l", "--list") {
		c.printf("%d HCAs found:\n", len(c.node.HCAs))
		for _, h := range c.node.HCAs {
			c.printf("\t%s\n", h.Name)
		}
		c.printf("\n")
		return 0
	}
	name := ""
	for i, a := range c.args {
		if (a == "-d" || a == "--ib-dev") && i+1 < len(c.args) {
			name = c.args[i+1]
		}
	}
	found := false
	for _, h := range c.node.HCAs {
		if name == "" || h.Name == name {
			found = true
			printDevice(c, h)
		}
	}
	if !found {
		c.errorf("IB device '%s' wasn't found\n", name)
		return 255
	}
	return 0
}

func printDevice(c *call, h fabric.HCA) {
	hw := c.node.Hardware.Fabric
	c.printf("hca_id:\t%s\n", h.Name)
	c.printf("\ttransport:\t\t\tInfiniBand (0)\n")
	c.printf("\tfw_ver:\t\t\t\t%s\n", h.Firmware)
	c.printf("\tnode_guid:\t\t\t%s\n", colonGUID(h.GUID))
	c.printf("\tsys_image_guid:\t\t\t%s\n", colonGUID(h.GUID))
	c.printf("\tvendor_id:\t\t\t0x02c9\n")
	c.printf("\tvendor_part_id:\t\t\t%d\n", hw.DeviceID)
	c.printf("\thw_ver:\t\t\t\t0x0\n")
	c.printf("\tboard_id:\t\t\t%s\n", hw.Board)
	c.printf("\tphys_port_cnt:\t\t\t1\n")
	c.printf("\t\tport:\t1\n")
	c.printf("\t\t\tstate:\t\t\t%s\n", map[string]string{
		fabric.StateActive: "PORT_ACTIVE (4)", fabric.StateInit: "PORT_INIT (2)", fabric.StateDown: "PORT_DOWN (1)",
	}[h.State])
	c.printf("\t\t\tmax_mtu:\t\t%s\n", mtuText(hw.MTU))
	c.printf("\t\t\tactive_mtu:\t\t%s\n", mtuText(h.MTU))
	c.printf("\t\t\tsm_lid:\t\t\t%d\n", h.SMLID)
	c.printf("\t\t\tport_lid:\t\t%d\n", h.LID)
	c.printf("\t\t\tport_lmc:\t\t0x00\n")
	c.printf("\t\t\tlink_layer:\t\t%s\n\n", linkLayer(h))
}

// colonGUID is a GUID in the verbs tools' notation: a088:c203:00d7:0030.
func colonGUID(guid uint64) string {
	return fmt.Sprintf("%04x:%04x:%04x:%04x", guid>>48, guid>>32&0xffff, guid>>16&0xffff, guid&0xffff)
}

// mtuText is an MTU with its InfiniBand code.
func mtuText(bytes int) string {
	return fmt.Sprintf("%d (%d)", bytes, map[int]int{256: 1, 512: 2, 1024: 3, 2048: 4, 4096: 5}[bytes])
}
