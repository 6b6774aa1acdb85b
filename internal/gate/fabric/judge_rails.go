package fabric

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/gate/fabric/uniform"
	"github.com/firstlight/firstlight/internal/probe/infiniband"
	"github.com/firstlight/firstlight/internal/site"
)

const (
	remedyRails    = "compare the cables with the cabling plan, plug them as planned, then run again: firstlight accept --from fabric; where an HCA may be at any leaf, declare fabric.topology: fat-tree in the site"
	remedyTopology = "declare fabric.topology in the site: rail-optimised, or fat-tree where an HCA may be at any leaf"
)

// leaf is a switch with the site's adapters that are cabled to it.
type leaf struct {
	id   string
	name string
	// nodes are the nodes with an adapter at this leaf. here counts, by HCA, those that have
	// it at this leaf, elsewhere those that have it at another leaf; an adapter whose link is
	// down is in neither. cabling counts nodes by the leaves of all their adapters.
	nodes           map[string]bool
	here, elsewhere map[string]int
	cabling         map[string]int
}

// majority reports whether more of the leaf's nodes have an HCA here than elsewhere, minority
// whether fewer have.
func (l *leaf) majority(hca string) bool { return l.here[hca] > l.elsewhere[hca] }
func (l *leaf) minority(hca string) bool { return l.here[hca] < l.elsewhere[hca] }

// usualHCAs are the HCAs that most nodes of the leaf have here.
func (l *leaf) usualHCAs() []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(l.here)), func(hca string) bool { return !l.majority(hca) })
}

// describeMix describes a leaf with different HCAs of its nodes.
func (l *leaf) describeMix() string {
	var of []string
	for _, hca := range slices.Sorted(maps.Keys(l.here)) {
		of = append(of, fmt.Sprintf("%s of %d", hca, l.here[hca]))
	}
	return fmt.Sprintf("%s has different HCAs of its %d nodes: %s", l.name, len(l.nodes), strings.Join(uniform.Head(of), ", "))
}

// plug is an adapter and its leaf.
type plug struct {
	node, hca string
	leaf      *leaf
}

func (p plug) name() string { return p.node + "/" + p.hca }

// judgeRails compares the leaf of each adapter with the leaf of the same adapter of other
// nodes: in a rail-optimised fabric, a leaf has the same HCAs of all its nodes. A fat tree
// with all HCAs of a node at one leaf passes too. Without a declared topology, a site is
// judged only if its nodes are cabled like their neighbours.
func (g *Gate) judgeRails(b *check.Builder, o check.Observation, ports []infiniband.LinkPort, names names) {
	if g.site.Fabric.Topology == site.FatTree {
		return
	}
	declared := g.site.Fabric.Topology == site.RailOptimised
	nodes := g.plugs(ports, names)
	var suspects []plug
	for _, n := range slices.Sorted(maps.Keys(nodes)) {
		suspects = append(suspects, slices.DeleteFunc(slices.Clone(nodes[n]), func(p plug) bool { return p.leaf.majority(p.hca) })...)
	}
	if len(suspects) == 0 {
		return
	}
	if alike := countAlike(nodes); !declared && 2*alike < len(nodes) {
		b.Note(o.ID, "fabric", remedyTopology, "%d of %d nodes are cabled like their neighbours, so the leaf of each adapter was not judged", alike, len(nodes))
		return
	}
	for _, p := range suspects {
		usual := p.leaf.usualHCAs()
		switch {
		case len(usual) > 0 && (declared || p.leaf.minority(p.hca)):
			b.Fail(o.ID, p.name(), remedyRails, "%s is cabled to %s, where most nodes have %s: %d of %d have %s there", p.name(), p.leaf.name, strings.Join(usual, ", "), p.leaf.here[p.hca], p.leaf.here[p.hca]+p.leaf.elsewhere[p.hca], p.hca)
		case declared:
			b.Fail(o.ID, p.leaf.name, remedyRails, "%s", p.leaf.describeMix())
		default:
			b.Note(o.ID, p.leaf.name, remedyTopology, "%s", p.leaf.describeMix())
		}
	}
}

// plugs are the site's adapters with an active link, by node.
func (g *Gate) plugs(ports []infiniband.LinkPort, names names) map[string][]plug {
	leafOf := map[string]*leaf{}
	leaves := map[string]*leaf{}
	for _, p := range ports { // links are listed from both ends; the switch's end is enough
		adapter := names.end(p.PeerGUID, p.Peer, p.PeerPort)
		if !p.Up() || !adapter.expected || names.end(p.GUID, p.Node, p.Port).adapter {
			continue
		}
		if leaves[p.GUID] == nil {
			leaves[p.GUID] = &leaf{id: p.GUID, name: p.Node, nodes: map[string]bool{}, here: map[string]int{}, elsewhere: map[string]int{}, cabling: map[string]int{}}
		}
		leafOf[adapter.name] = leaves[p.GUID]
	}
	out := map[string][]plug{}
	for _, n := range g.site.Inventory.Nodes {
		for _, hca := range g.site.Fabric.HCAs {
			if l := leafOf[n.Name+"/"+hca]; l != nil {
				l.nodes[n.Name] = true
				l.here[hca]++
				out[n.Name] = append(out[n.Name], plug{n.Name, hca, l})
			}
		}
		for l := range leavesOf(out[n.Name]) {
			for _, p := range out[n.Name] {
				if p.leaf != l {
					l.elsewhere[p.hca]++
				}
			}
		}
	}
	return out
}

// countAlike counts the nodes that are cabled like their neighbours: at each of their leaves,
// at least half of the nodes, and at least one other node, have every adapter at the same
// leaf.
func countAlike(nodes map[string][]plug) int {
	cabling := map[string]string{}
	for name, plugs := range nodes {
		var text strings.Builder
		for _, p := range plugs {
			fmt.Fprintf(&text, "%s at %s; ", p.hca, p.leaf.id)
		}
		cabling[name] = text.String()
		for l := range leavesOf(plugs) {
			l.cabling[cabling[name]]++
		}
	}
	alike := 0
	for name, plugs := range nodes {
		of := cabling[name]
		like := func(l *leaf) bool { return l.cabling[of] > 1 && 2*l.cabling[of] >= len(l.nodes) }
		if !slices.ContainsFunc(plugs, func(p plug) bool { return !like(p.leaf) }) {
			alike++
		}
	}
	return alike
}

// leavesOf are the distinct leaves of plugs.
func leavesOf(plugs []plug) map[*leaf]bool {
	out := map[*leaf]bool{}
	for _, p := range plugs {
		out[p.leaf] = true
	}
	return out
}
