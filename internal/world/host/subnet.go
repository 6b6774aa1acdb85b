package host

import (
	"strconv"

	"github.com/firstlight/firstlight/internal/world"
	"github.com/firstlight/firstlight/internal/world/fabric"
)

// subnet is the fabric as a scan from one host finds it: what hangs behind a
// dead link isn't there.
type subnet struct {
	cas      []ca
	switches []switchPorts
	// duplicates are GUIDs that several HCAs have. A scan goes by GUIDs: all of them
	// are one CA in it, the first.
	duplicates []uint64
	guids      map[fabric.End]uint64
}

// ca is one HCA that the scan reached.
type ca struct {
	hca  fabric.HCA
	link fabric.Link
}

func (c ca) name() string { return c.hca.Node + " " + c.hca.Name }

// switchPorts is one switch with the links in its ports; an empty slot is a zero Link.
type switchPorts struct {
	sw    fabric.Switch
	links []fabric.Link
}

func scan(s world.State) subnet {
	n := subnet{guids: map[fabric.End]uint64{}}
	index := map[string]int{}
	for _, sw := range s.Switches {
		index[sw.Name] = len(n.switches)
		n.switches = append(n.switches, switchPorts{sw: sw, links: make([]fabric.Link, sw.Ports+1)})
	}
	place := func(e fabric.End, l fabric.Link) {
		if i, ok := index[e.Node]; ok && e.Port < len(n.switches[i].links) {
			n.switches[i].links[e.Port] = l
		}
	}
	for _, l := range s.Links {
		place(l.A, l)
		place(l.B, l)
	}
	known := map[uint64]bool{}
	for _, node := range s.GPUNodes() {
		for _, h := range node.HCAs {
			n.guids[fabric.End{Node: node.Name, Device: h.Name, Port: 1}] = h.GUID
			l, ok := s.HCALink(node.Name, h.Name)
			switch {
			case !ok || l.PhysState != fabric.PhysLinkUp:
			case known[h.GUID]:
				n.duplicates = append(n.duplicates, h.GUID)
			default:
				known[h.GUID] = true
				n.cas = append(n.cas, ca{hca: h, link: l})
			}
		}
	}
	return n
}

// port is one end of a link as a scan sees it.
type port struct {
	guid uint64
	lid  int
	num  int
	name string
}

// ports maps both kinds of ends to what is printed of them.
func (n subnet) port(e fabric.End) port {
	if e.Device != "" {
		for _, c := range n.cas {
			if c.hca.GUID == n.guids[e] {
				return port{guid: c.hca.GUID, lid: c.hca.LID, num: e.Port, name: c.name()}
			}
		}
		return port{num: e.Port, name: e.Node + " " + e.Device}
	}
	for _, s := range n.switches {
		if s.sw.Name == e.Node {
			return port{guid: s.sw.GUID, lid: s.sw.LID, num: e.Port, name: s.sw.Name}
		}
	}
	return port{num: e.Port, name: e.Node}
}

// other is the far end of a link.
func other(l fabric.Link, e fabric.End) fabric.End {
	if l.A == e {
		return l.B
	}
	return l.A
}

// laneText prints a lane's rate the way the tools do: 106.25, 25.78125, 53.125.
func laneText(gbps float64) string {
	return strconv.FormatFloat(gbps, 'f', -1, 64) + " Gbps"
}

// stateText is a port state in the tools' words.
func stateText(state string) string {
	if state == fabric.StateInit {
		return "Initialize"
	}
	return state
}
