package host

import (
	"strconv"

	"github.com/firstlight/firstlight/internal/world"
	"github.com/firstlight/firstlight/internal/world/fabric"
)

// subnet is the fabric as one host discovers it; nodes behind a dead link are missing.
type subnet struct {
	cas      []ca
	switches []switchPorts
	// duplicates are GUIDs of several HCAs. A scan identifies nodes by GUID, so it has only the
	// first of them.
	duplicates []uint64
	guids      map[fabric.End]uint64
	// caOf and switchOf are the places in cas and switches by GUID and by name.
	caOf     map[uint64]int
	switchOf map[string]int
}

// ca is one discovered HCA.
type ca struct {
	hca  fabric.HCA
	link fabric.Link
}

func (c *ca) name() string { return c.hca.Node + " " + c.hca.Name }

// switchPorts is one switch with the links in its ports; an unused port has a zero Link.
type switchPorts struct {
	sw    fabric.Switch
	links []fabric.Link
}

func scan(s world.State) subnet {
	n := subnet{guids: map[fabric.End]uint64{}, caOf: map[uint64]int{}, switchOf: map[string]int{}}
	for _, sw := range s.Switches {
		n.switchOf[sw.Name] = len(n.switches)
		n.switches = append(n.switches, switchPorts{sw: sw, links: make([]fabric.Link, sw.Ports+1)})
	}
	links := map[fabric.End]*fabric.Link{} // of HCAs
	place := func(e fabric.End, l *fabric.Link) {
		if i, ok := n.switchOf[e.Node]; ok && e.Port < len(n.switches[i].links) {
			n.switches[i].links[e.Port] = *l
		}
		if e.Device != "" {
			links[e] = l
		}
	}
	for i := range s.Links {
		l := &s.Links[i]
		place(l.A, l)
		place(l.B, l)
	}
	for _, hcas := range append(hcasOf(s.GPUNodes()), s.Strangers) {
		for _, h := range hcas {
			end := fabric.End{Node: h.Node, Device: h.Name, Port: 1}
			n.guids[end] = h.GUID
			l := links[end]
			if l == nil || l.PhysState != fabric.PhysLinkUp {
				continue
			}
			if _, known := n.caOf[h.GUID]; known {
				n.duplicates = append(n.duplicates, h.GUID)
				continue
			}
			n.caOf[h.GUID] = len(n.cas)
			n.cas = append(n.cas, ca{hca: h, link: *l})
		}
	}
	return n
}

func hcasOf(nodes []world.Node) [][]fabric.HCA {
	var out [][]fabric.HCA
	for _, n := range nodes {
		out = append(out, n.HCAs)
	}
	return out
}

// port is one end of a link in a scan.
type port struct {
	guid uint64
	lid  int
	num  int
	name string
}

// port returns how the tools print an end.
func (n subnet) port(e fabric.End) port {
	if e.Device != "" {
		i, ok := n.caOf[n.guids[e]]
		if !ok {
			return port{num: e.Port, name: e.Node + " " + e.Device}
		}
		c := &n.cas[i]
		return port{guid: c.hca.GUID, lid: c.hca.LID, num: e.Port, name: c.name()}
	}
	i, ok := n.switchOf[e.Node]
	if !ok {
		return port{num: e.Port, name: e.Node}
	}
	sw := &n.switches[i].sw
	return port{guid: sw.GUID, lid: sw.LID, num: e.Port, name: sw.Name}
}

// other returns the far end of a link.
func other(l fabric.Link, e fabric.End) fabric.End {
	if l.A == e {
		return l.B
	}
	return l.A
}

// laneText is a lane's rate in the tools' notation: 106.25, 25.78125, 53.125.
func laneText(gbps float64) string {
	return strconv.FormatFloat(gbps, 'f', -1, 64) + " Gbps"
}

// stateText is a port state in the tools' notation.
func stateText(state string) string {
	if state == fabric.StateInit {
		return "Initialize"
	}
	return state
}
