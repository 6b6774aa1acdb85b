package infiniband

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"

	"github.com/firstlight/firstlight/internal/probe/guard"
)

// NetNode is one node of a subnet as ibnetdiscover prints it.
type NetNode struct {
	// Kind is Switch, Ca or Rt.
	Kind string `json:"kind"`
	// ID is "S-" or "H-" and the GUID, or any unique name in a file that a person wrote.
	ID string `json:"id"`
	// Name is the node description, or the ID without one.
	Name  string    `json:"name"`
	Ports int       `json:"ports"`
	Links []NetLink `json:"links"`
	// PortGUIDs are those of an adapter's connected ports ("0x..."), which may differ from its own GUID.
	PortGUIDs []string `json:"portGUIDs,omitempty"`
}

// NetLink is a port that is connected, from this node.
type NetLink struct {
	Port     int    `json:"port"`
	PeerID   string `json:"peerID"`
	PeerPort int    `json:"peerPort"`
}

var (
	netNode   = regexp.MustCompile(`^(Switch|Ca|Hca|Rt)\s+(\d+)\s+"([^"]+)"\s*(?:#\s*"([^"]*)".*)?$`)
	netLink   = regexp.MustCompile(`^\[(\d+)\](?:\[ext \d+\])?(?:\(([0-9a-fA-F]+)\))?\s+"([^"]+)"\[(\d+)\](?:\[ext \d+\])?\s*(?:\([0-9a-fA-F]+\))?\s*(?:#.*)?$`)
	netHeader = regexp.MustCompile(`^(?:vendid|devid|sysimgguid|switchguid|caguid|rtguid)=0x[0-9a-fA-F]+(?:\([0-9a-fA-F]+\))?(?:\s+#.*)?$|^#|^Chassis |^Non-Chassis Nodes$|^Hostname: |^DDR |^SDR `)
)

// maxPort is the most ports of a node (an 8-bit field without its reserved value).
const maxPort = 254

// ParseNetDiscover parses the output of ibnetdiscover, or a file in its format. Each link is
// listed at both its ends; a link that is not, a port with two links, a node without a link and
// an ID that occurs twice are errors.
func ParseNetDiscover(out []byte) ([]NetNode, error) {
	return guard.Parse("ibnetdiscover", func() ([]NetNode, error) { return parseNetDiscover(out) })
}

func parseNetDiscover(out []byte) ([]NetNode, error) {
	var nodes []NetNode
	err := eachLine("ibnetdiscover", out, func(text string) error {
		if g := netNode.FindStringSubmatch(text); g != nil {
			return addNode(&nodes, g)
		}
		g := netLink.FindStringSubmatch(text)
		switch {
		case g != nil && len(nodes) == 0:
			return errors.New("port without a node line before it")
		case g != nil:
			return addLink(&nodes[len(nodes)-1], g)
		case netHeader.MatchString(text):
			return nil
		}
		return fmt.Errorf("%.160q is not a line of ibnetdiscover", text)
	})
	if err != nil {
		return nil, err
	}
	if len(nodes) == 0 {
		return nil, errors.New("read ibnetdiscover: no node in the output: it found no subnet, or its output is empty")
	}
	return nodes, bothEnds(nodes)
}

func addNode(nodes *[]NetNode, g []string) error {
	ports, err := strconv.Atoi(g[2])
	if err != nil || ports < 1 || ports > maxPort {
		return fmt.Errorf("invalid number of ports %s of %s: must be 1 to %d", g[2], g[3], maxPort)
	}
	n := NetNode{Kind: g[1], ID: g[3], Name: g[4], Ports: ports}
	if n.Kind == "Hca" { // ibsim's word
		n.Kind = "Ca"
	}
	if n.Name == "" {
		n.Name = n.ID
	}
	*nodes = append(*nodes, n)
	return nil
}

func addLink(n *NetNode, g []string) error {
	port, err := strconv.Atoi(g[1])
	if err != nil || port < 1 || port > n.Ports {
		return fmt.Errorf("invalid port %s: %s has ports 1 to %d", g[1], n.Name, n.Ports)
	}
	peer, err := strconv.Atoi(g[4])
	if err != nil {
		return fmt.Errorf("invalid port of the peer: %w", err)
	}
	n.Links = append(n.Links, NetLink{Port: port, PeerID: g[3], PeerPort: peer})
	if g[2] != "" {
		n.PortGUIDs = append(n.PortGUIDs, "0x"+g[2])
	}
	return nil
}

// bothEnds requires that the other end of every link lists it too: output that was cut off, or a
// fabric that changed during the scan.
func bothEnds(nodes []NetNode) error {
	type end struct {
		id   string
		port int
	}
	links, names := map[end]end{}, map[string]bool{}
	for _, n := range nodes {
		if names[n.ID] {
			return fmt.Errorf("read ibnetdiscover: %s occurs twice", n.ID)
		}
		names[n.ID] = true
		if len(n.Links) == 0 { // a scan reaches a node by a link
			return fmt.Errorf("read ibnetdiscover: %s has no link: the output is truncated", n.ID)
		}
		for _, l := range n.Links {
			e := end{n.ID, l.Port}
			if _, ok := links[e]; ok {
				return fmt.Errorf("read ibnetdiscover: port %d of %s has two links", l.Port, n.ID)
			}
			links[e] = end{l.PeerID, l.PeerPort}
		}
	}
	for _, n := range nodes {
		for _, l := range n.Links {
			if links[end{l.PeerID, l.PeerPort}] != (end{n.ID, l.Port}) {
				return fmt.Errorf("read ibnetdiscover: port %d of %s is linked to port %d of %s, which does not list it: the output is truncated, or the fabric changed during the scan", l.Port, n.ID, l.PeerPort, l.PeerID)
			}
		}
	}
	return nil
}
