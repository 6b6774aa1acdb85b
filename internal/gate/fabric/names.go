package fabric

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/probe/infiniband"
)

// names maps the tools' names of ports to the site's names. GUIDs take precedence, since hosts
// report their own; node descriptions are configured and may be the model's name.
type names struct {
	adapters map[uint64]string // "gpu-02/mlx5_3"
	switches map[uint64]string
	nodes    map[string]string // inventory name by short lower-case name
	declared map[string]bool   // switches of the site, as fabric.switches has them
	byGUID   map[uint64]string // those that it has by GUID
	// others are the site's patterns and GUIDs of other nodes of the subnet, foreign those found, by
	// GUID.
	others  []string
	foreign map[uint64]string
	// paths are the nodes of the subnet by the name that ibdiagnet gives them, hosts those of a host, and ports the
	// highest port that iblinkinfo lists of a node.
	paths, hosts map[string][]described
	ports        map[uint64]int
}

// endpoint is one end of a link.
type endpoint struct {
	name    string
	adapter bool
	// expected is set for adapters of the inventory's nodes.
	expected bool
	// other is set for nodes that the site allows on the subnet in addition to its own.
	other bool
}

// names collects the names from the observations.
func (g *Gate) names(obs []check.Observation) names {
	n := names{adapters: map[uint64]string{}, switches: map[uint64]string{}, nodes: map[string]string{}, declared: map[string]bool{}, byGUID: map[uint64]string{}, others: g.site.Fabric.Others, foreign: map[uint64]string{},
		paths: map[string][]described{}, hosts: map[string][]described{}, ports: map[uint64]int{}}
	for _, node := range slices.Concat(g.site.NodeNames(), g.site.Inventory.LeftOut) {
		n.nodes[short(node)] = node
	}
	for _, name := range g.site.Fabric.Switches {
		n.declared[name] = true
		if id, ok := guid(name); ok && strings.HasPrefix(name, "0x") {
			n.byGUID[id] = name
		}
	}
	for _, o := range check.OfKind(obs, kindPorts) {
		adapters, err := check.Decode[[]infiniband.HCA](o)
		if err != nil {
			continue // reported by judgePorts
		}
		for _, a := range adapters {
			n.adapter(a.NodeGUID, o.Target+"/"+a.Name)
			for _, p := range a.Ports {
				n.adapter(p.PortGUID, o.Target+"/"+a.Name)
			}
		}
	}
	for _, o := range check.OfKind(obs, kindLinks) {
		ports, err := check.Decode[[]infiniband.LinkPort](o)
		if err != nil {
			continue // reported by judgeLinks
		}
		for _, p := range n.linkPorts(ports) {
			if id, ok := guid(p.GUID); ok && n.declared[p.Node] {
				n.switches[id] = p.Node
			}
			n.addForeign(p.GUID, p.Node)
			n.addForeign(p.PeerGUID, p.Peer)
			n.addPath(p.GUID, p.Node, p.Port)
			if p.Peer != "" {
				n.addPath(p.PeerGUID, p.Peer, p.PeerPort)
			}
		}
	}
	return n
}

func (n names) adapter(text, name string) {
	if id, ok := guid(text); ok {
		n.adapters[id] = name
	}
}

func (n names) addForeign(text, description string) {
	if id, ok := guid(text); ok && n.allows(description, id) {
		n.foreign[id] = description
	}
}

// allows reports whether the site allows a node on the subnet in addition to its own.
func (n names) allows(description string, id uint64) bool {
	return slices.ContainsFunc(n.others, func(pattern string) bool {
		if strings.HasPrefix(pattern, "0x") {
			allowed, ok := guid(pattern)
			return ok && allowed == id
		}
		ok, err := path.Match(pattern, description)
		return ok && err == nil
	})
}

// described is a node's description, or its GUID as fabric.switches has it: switches without MLNX-OS may all have the
// description "Quantum Mellanox Technologies".
func (n names) described(guidText, description string) string {
	id, _ := guid(guidText)
	return cmp.Or(n.byGUID[id], description)
}

// linkPorts are ports with the names of the site's switches in place of their descriptions.
func (n names) linkPorts(ports []infiniband.LinkPort) []infiniband.LinkPort {
	out := slices.Clone(ports)
	for i, p := range out {
		out[i].Node, out[i].Peer = n.described(p.GUID, p.Node), n.described(p.PeerGUID, p.Peer)
	}
	return out
}

// netNodes are nodes of ibnetdiscover with such names; the ID of one has its GUID ("S-fc6a1c0300b00580").
func (n names) netNodes(nodes []infiniband.NetNode) []infiniband.NetNode {
	out := slices.Clone(nodes)
	for i, node := range out {
		_, digits, _ := strings.Cut(node.ID, "-")
		out[i].Name = n.described("0x"+digits, node.Name)
	}
	return out
}

// end names one end of a link: "gpu-02/mlx5_3", "leaf-3/port5".
func (n names) end(guidText, description string, port int) endpoint {
	id, _ := guid(guidText)
	if n.allows(description, id) {
		return endpoint{name: strings.Replace(description, " ", "/", 1), adapter: true, other: true}
	}
	if name, ok := n.adapters[id]; ok {
		return endpoint{name: name, adapter: true, expected: true}
	}
	if n.declared[description] {
		return endpoint{name: fmt.Sprintf("%s/port%d", description, port)}
	}
	host, device, found := strings.Cut(description, " ")
	if !found || strings.Contains(device, " ") { // "Quantum Mellanox Technologies" is not an adapter of a host Quantum
		return endpoint{name: fmt.Sprintf("%s/port%d", description, port)}
	}
	if known, ok := n.nodes[short(host)]; ok {
		return endpoint{name: known + "/" + device, adapter: true, expected: true}
	}
	return endpoint{name: host + "/" + device, adapter: true}
}

// port names a port of an error of ibdiagnet.
func (n names) port(p infiniband.DiagnetPort) (endpoint, bool) {
	if p.Node != "" {
		return n.named(p.Node, p.Port, p.Label)
	}
	id, ok := guid(p.NodeGUID)
	if !ok {
		return endpoint{}, false
	}
	if description, ok := n.foreign[id]; ok {
		return endpoint{name: strings.Replace(description, " ", "/", 1), adapter: true, other: true}, true
	}
	if name, ok := n.adapters[id]; ok {
		return endpoint{name: name, adapter: true, expected: true}, true
	}
	name, ok := n.switches[id]
	if number := n.number(id, p.Port, p.Label); ok && number > 0 {
		return endpoint{name: fmt.Sprintf("%s/port%d", name, number)}, true
	}
	return endpoint{name: name + "/" + p.Label}, ok
}

// aggregation reports whether a node is a switch's internal SHARP adapter, which has no cable.
func aggregation(description string) bool { return strings.Contains(description, "Aggregation Node") }

// guid reads a GUID; 0 is not a GUID.
func guid(text string) (uint64, bool) {
	v, err := strconv.ParseUint(text, 0, 64)
	return v, err == nil && v != 0
}

// short is a host name without its domain, in lower case.
func short(host string) string {
	name, _, _ := strings.Cut(strings.ToLower(host), ".")
	return name
}

// cable is a link with its two ends, the host's first, so that both ends have the same name.
type cable struct{ near, far endpoint }

func cableOf(a, b endpoint) cable {
	if b.adapter && !a.adapter || a.adapter == b.adapter && b.name < a.name {
		a, b = b, a
	}
	return cable{a, b}
}

func (c cable) String() string { return c.near.name + " to " + c.far.name }

// other reports whether an end belongs to a node of others.
func (c cable) other() bool { return c.near.other || c.far.other }

// topology is the cable of each end, by the end's name.
type topology map[string]cable

// suspect is the name of the port's cable, or of the port without a known cable.
func (t topology) suspect(port string) (name, described string) {
	c, ok := t[port]
	if !ok {
		return port, port
	}
	return c.near.name, "link " + c.String()
}
