package host

import (
	"fmt"

	"github.com/firstlight/firstlight/internal/world/fabric"
)

// ibnetdiscover prints every node with its connected ports: switches, then HCAs.
func ibnetdiscover(c *call) int {
	own, ok := c.firstActive()
	if !ok {
		c.cannotOpen()
		c.errorf("./libibnetdisc/ibnetdisc.c:802; can't open MAD port ((null):0)\n")
		c.printf("ibnetdiscover: iberror: failed: discover failed\n\n")
		return 255
	}
	net := scan(c.state)
	c.printf("#\n# Topology file: generated on %s\n#\n# Initiated from node %016x port %016x\n", c.state.Now.Format("Mon Jan _2 15:04:05 2006"), own.GUID, own.GUID)
	head := func(guid uint64) { c.printf("\nvendid=0x2c9\ndevid=0xd2f2\nsysimgguid=0x%x\n", guid) }
	for _, s := range net.switches {
		head(s.sw.GUID)
		c.printf("switchguid=0x%x(%x)\nSwitch\t%d \"S-%016x\"\t\t# \"%s\" enhanced port 0 lid %d lmc 0\n", s.sw.GUID, s.sw.GUID, s.sw.Ports, s.sw.GUID, s.sw.Name, s.sw.LID)
		for p := 1; p <= s.sw.Ports; p++ {
			l := s.links[p]
			if l.PhysState != fabric.PhysLinkUp {
				continue
			}
			e := other(l, fabric.End{Node: s.sw.Name, Port: p})
			far := net.port(e)
			id := fmt.Sprintf("\"S-%016x\"[%d]", far.guid, far.num)
			if e.Device != "" {
				id = fmt.Sprintf("\"H-%016x\"[%d](%x) ", far.guid, far.num, far.guid)
			}
			c.printf("[%d]\t%s\t\t# \"%s\" lid %d %dx%s\n", p, id, far.name, far.lid, l.Width, fabric.SpeedName(l.LaneGbps))
		}
	}
	for _, ca := range net.cas {
		head(ca.hca.GUID)
		far := net.port(ca.hca.Attached)
		c.printf("caguid=0x%x\nCa\t1 \"H-%016x\"\t\t# \"%s\"\n[1](%x) \t\"S-%016x\"[%d]\t\t# lid %d lmc 0 \"%s\" lid %d %dx%s\n", ca.hca.GUID, ca.hca.GUID, ca.name(),
			ca.hca.GUID, far.guid, far.num, ca.hca.LID, far.name, far.lid, ca.link.Width, fabric.SpeedName(ca.link.LaneGbps))
	}
	return 0
}
