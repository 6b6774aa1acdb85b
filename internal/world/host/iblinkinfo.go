package host

import (
	"fmt"
	"strconv"

	"github.com/firstlight/firstlight/internal/world/fabric"
)

// iblinkinfo prints every port of every node: each link once from each end, unused switch ports as
// down. -l prints one link per line, --switches-only omits HCAs, -d prints only ports that are
// down.
func iblinkinfo(c *call) int {
	if _, ok := c.firstActive(); !ok {
		c.cannotOpen()
		c.errorf("Failed to open (null) port 0\n")
		return 1
	}
	net := scan(c.state)
	line, down := c.has("-l", "--line"), c.has("-d", "--down")
	if !c.has("--switches-only") && !down {
		for _, ca := range net.cas {
			end := fabric.End{Node: ca.hca.Node, Device: ca.hca.Name, Port: 1}
			if line {
				c.printf("0x%016x \"%30s\" %s\n", ca.hca.GUID, ca.name(), net.linkText(end, ca.link, true))
				continue
			}
			c.printf("CA: %s:\n      0x%016x %s\n", ca.name(), ca.hca.GUID, net.linkText(end, ca.link, false))
		}
	}
	if c.has("--cas-only") {
		return 0
	}
	for _, s := range net.switches {
		if !line {
			c.printf("Switch: 0x%016x %s:\n", s.sw.GUID, s.sw.Name)
		}
		for p := 1; p <= s.sw.Ports; p++ {
			if down && s.links[p].PhysState == fabric.PhysLinkUp {
				continue
			}
			text := net.linkText(fabric.End{Node: s.sw.Name, Port: p}, s.links[p], line)
			if line {
				c.printf("0x%016x \"%30s\" %s\n", s.sw.GUID, s.sw.Name, text)
			} else {
				c.printf("      %s\n", text)
			}
		}
	}
	return 0
}

// linkText is a port's line from the LID on.
func (n subnet) linkText(e fabric.End, l fabric.Link, withGUID bool) string {
	here := n.port(e)
	if l.PhysState != fabric.PhysLinkUp {
		phys := l.PhysState
		if phys == "" {
			phys = fabric.PhysPolling // no cable
		}
		return fmt.Sprintf("%6d %4d[  ] ==(              %6s/%8s)==>             [  ] \"\" ( )", here.lid, here.num, fabric.StateDown, phys)
	}
	far := n.port(other(l, e))
	guid := ""
	if withGUID {
		guid = fmt.Sprintf("0x%016x ", far.guid)
	}
	return fmt.Sprintf("%6d %4d[  ] ==(%3s %18s %6s/%8s)==>  %s%6d %4d[  ] \"%s\" (%s)",
		here.lid, here.num, strconv.Itoa(l.Width)+"X", laneText(l.LaneGbps), stateText(l.State), l.PhysState,
		guid, far.lid, far.num, far.name, hints(l))
}

// hints is the link's possible speed or width; empty for a healthy link.
func hints(l fabric.Link) string {
	width, speed := "", ""
	if l.Width < l.MaxWidth {
		width = "Could be " + strconv.Itoa(l.MaxWidth) + "X"
	}
	if l.LaneGbps < l.MaxLane {
		speed = "Could be " + laneText(l.MaxLane)
	}
	return width + " " + speed
}
