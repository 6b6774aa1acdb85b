package fabric

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/probe/iblinkinfo"
	"github.com/firstlight/firstlight/internal/site"
)

const (
	remedyRails    = "compare the cables with the cabling plan, plug them as planned, then walk again: firstlight accept --from fabric"
	remedyTopology = "declare fabric.topology in the site: rail-optimised, or fat-tree where an HCA may be at any leaf"
)

// leaf is a switch and the adapters of the site that are cabled to it.
type leaf struct {
	name string
	// nodes that have an adapter here; of counts them by HCA.
	nodes map[string]bool
	of    map[string]int
}

// has says that most nodes of the leaf have this HCA here.
func (l *leaf) has(hca string) bool { return 2*l.of[hca] > len(l.nodes) }

// usual are the HCAs that most nodes of the leaf have here.
func (l *leaf) usual() []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(l.of)), func(hca string) bool { return !l.has(hca) })
}

// plug is where an adapter is cabled to.
type plug struct {
	node, hca string
	at        *leaf
}

func (p plug) name() string { return p.node + "/" + p.hca }

// judgeRails compares the leaf of each adapter with that of the same adapter of other nodes:
// in a rail-optimised fabric a leaf serves the same HCAs of all its nodes. A fat tree with
// all HCAs of a node at one leaf passes, too. Where the site declares no topology and more
// than half of the nodes are not in that order, the fabric is not rail-optimised.
func (g *Gate) judgeRails(v *verdict, o check.Observation, ports []iblinkinfo.Port, who names) {
	if g.site.Fabric.Topology == site.FatTree {
		return
	}
	declared := g.site.Fabric.Topology == site.RailOptimised
	plugs := g.plugs(ports, who)
	misplaced := slices.DeleteFunc(slices.Clone(plugs), func(p plug) bool { return p.at.has(p.hca) })
	if len(misplaced) == 0 {
		return
	}
	if nodes, disordered := countNodes(plugs), countNodes(misplaced); !declared && 2*disordered > nodes {
		v.note(o, "fabric", fmt.Sprintf("on %d of %d nodes, adapters are at leaves where most nodes do not have the same adapter, so the leaf of each adapter was not judged", disordered, nodes), remedyTopology)
		return
	}
	mixed := map[*leaf]bool{}
	for _, p := range misplaced {
		usual := p.at.usual()
		switch {
		case len(usual) > 0:
			v.fail(o, p.name(), fmt.Sprintf("%s is cabled to %s, where most nodes have %s: %d of %d have %s there", p.name(), p.at.name, strings.Join(usual, ", "), p.at.of[p.hca], len(p.at.nodes), p.hca), remedyRails)
		case mixed[p.at]:
		case declared:
			v.fail(o, p.at.name, p.at.mix(), remedyRails)
		default:
			v.note(o, p.at.name, p.at.mix(), remedyTopology)
		}
		mixed[p.at] = true
	}
}

// mix describes a leaf that has no HCA of most of its nodes.
func (l *leaf) mix() string {
	var of []string
	for _, hca := range slices.Sorted(maps.Keys(l.of)) {
		of = append(of, fmt.Sprintf("%s of %d", hca, l.of[hca]))
	}
	return fmt.Sprintf("%s has different HCAs of its %d nodes, and no HCA of most of them: %s", l.name, len(l.nodes), strings.Join(head(of), ", "))
}

// plugs are the site's adapters whose link is up, by node and then HCA.
func (g *Gate) plugs(ports []iblinkinfo.Port, who names) []plug {
	at := map[string]*leaf{}
	leaves := map[string]*leaf{}
	attach := func(adapter, other endpoint, guidText, description string) {
		if !adapter.expected || other.adapter {
			return
		}
		id := cmp.Or(guidText, description)
		if leaves[id] == nil {
			leaves[id] = &leaf{name: description, nodes: map[string]bool{}, of: map[string]int{}}
		}
		at[adapter.name] = leaves[id]
	}
	for _, p := range ports {
		if p.Up() && p.Peer != "" && !aggregation(p.Node) && !aggregation(p.Peer) {
			here, there := who.end(p.GUID, p.Node, p.Port), who.end(p.PeerGUID, p.Peer, p.PeerPort)
			attach(here, there, p.PeerGUID, p.Peer)
			attach(there, here, p.GUID, p.Node)
		}
	}
	var out []plug
	for _, n := range g.site.Inventory.Nodes {
		for _, hca := range g.site.Fabric.HCAs {
			if l := at[n.Name+"/"+hca]; l != nil {
				l.nodes[n.Name] = true
				l.of[hca]++
				out = append(out, plug{n.Name, hca, l})
			}
		}
	}
	return out
}

func countNodes(plugs []plug) int {
	nodes := map[string]bool{}
	for _, p := range plugs {
		nodes[p.node] = true
	}
	return len(nodes)
}
