package host

import "github.com/firstlight/firstlight/internal/world/fabric"

// ibstat prints all HCAs of the host or the named one; -l lists names.
func ibstat(c *call) int {
	if len(c.node.HCAs) == 0 {
		c.errorf("ibpanic: [1] main: stat of IB device failed: No such file or directory\n")
		return 255
	}
	if c.has("-l") {
		for _, h := range c.node.HCAs {
			c.printf("%s\n", h.Name)
		}
		return 0
	}
	name := ""
	for _, a := range c.args {
		if a != "" && a[0] != '-' {
			name = a
			break
		}
	}
	found := name == ""
	for _, h := range c.node.HCAs {
		if name == "" || h.Name == name {
			found = true
			printCA(c, h)
		}
	}
	if !found {
		c.errorf("ibpanic: [1] main: '%s' IB device can't be found\n", name)
		return 255
	}
	return 0
}

func printCA(c *call, h fabric.HCA) {
	c.printf("CA '%s'\n", h.Name)
	c.printf("\tCA type: %s\n", c.node.Hardware.Fabric.CAType)
	c.printf("\tNumber of ports: 1\n")
	c.printf("\tFirmware version: %s\n", h.Firmware)
	c.printf("\tHardware version: 0\n")
	c.printf("\tNode GUID: 0x%016x\n", h.GUID)
	c.printf("\tSystem image GUID: 0x%016x\n", h.GUID)
	c.printf("\tPort 1:\n")
	c.printf("\t\tState: %s\n", h.State)
	c.printf("\t\tPhysical state: %s\n", h.PhysState)
	c.printf("\t\tRate: %d\n", h.Rate)
	c.printf("\t\tBase lid: %d\n", h.LID)
	c.printf("\t\tLMC: 0\n")
	c.printf("\t\tSM lid: %d\n", h.SMLID)
	c.printf("\t\tCapability mask: 0xa651e848\n")
	c.printf("\t\tPort GUID: 0x%016x\n", h.GUID)
	c.printf("\t\tLink layer: %s\n", linkLayer(h))
}
