package fabric

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/probe/iblinkinfo"
	"github.com/firstlight/firstlight/internal/site"
)

const (
	remedyRails    = "compare the cables with the cabling plan, plug them as planned, then walk again: firstlight accept --from fabric; where an HCA may be at any leaf, declare fabric.topology: fat-tree in the site"
	remedyTopology = "declare fabric.topology in the site: rail-optimised, or fat-tree where an HCA may be at any leaf"
)

// leaf is a switch and the adapters of the site that are cabled to it.
type leaf struct {
	id   string
	name string
	// nodes that have an adapter here. By HCA, of counts those that have it here, and
	// elsewhere those that have it at another leaf: an adapter whose link is down is in
	// neither. Like counts them by the leaves of all their adapters.
	nodes         map[string]bool
	of, elsewhere map[string]int
	like          map[string]int
}

// most says that more of the leaf's nodes have an HCA here than elsewhere, few that less have.
func (l *leaf) most(hca string) bool { return l.of[hca] > l.elsewhere[hca] }
func (l *leaf) few(hca string) bool  { return l.of[hca] < l.elsewhere[hca] }

// usual are the HCAs that most nodes of the leaf have here.
func (l *leaf) usual() []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(l.of)), func(hca string) bool { return !l.most(hca) })
}

// mix describes a leaf that does not serve the same HCAs of its nodes.
func (l *leaf) mix() string {
	var of []string
	for _, hca := range slices.Sorted(maps.Keys(l.of)) {
		of = append(of, fmt.Sprintf("%s of %d", hca, l.of[hca]))
	}
	return fmt.Sprintf("%s does not have the same HCAs of its %d nodes: %s", l.name, len(l.nodes), strings.Join(head(of), ", "))
}

// plug is where an adapter is cabled to.
type plug struct {
	node, hca string
	at        *leaf
}

func (p plug) name() string { return p.node + "/" + p.hca }

// judgeRails compares the leaf of each adapter with that of the same adapter of other nodes:
// in a rail-optimised fabric a leaf serves the same HCAs of all its nodes. A fat tree with
// all HCAs of a node at one leaf passes, too. A site that declares no topology is judged
// only where its nodes are cabled like their neighbours.
func (g *Gate) judgeRails(v *verdict, o check.Observation, ports []iblinkinfo.Port, who names) {
	if g.site.Fabric.Topology == site.FatTree {
		return
	}
	declared := g.site.Fabric.Topology == site.RailOptimised
	nodes := g.plugs(ports, who)
	var doubtful []plug
	for _, n := range slices.Sorted(maps.Keys(nodes)) {
		doubtful = append(doubtful, slices.DeleteFunc(slices.Clone(nodes[n]), func(p plug) bool { return p.at.most(p.hca) })...)
	}
	if len(doubtful) == 0 {
		return
	}
	if alike := countAlike(nodes); !declared && 2*alike < len(nodes) {
		v.note(o, "fabric", fmt.Sprintf("%d of %d nodes are cabled like their neighbours, so the leaf of each adapter was not judged", alike, len(nodes)), remedyTopology)
		return
	}
	mixed := map[*leaf]bool{}
	for _, p := range doubtful {
		usual := p.at.usual()
		switch {
		case len(usual) > 0 && (declared || p.at.few(p.hca)):
			v.fail(o, p.name(), fmt.Sprintf("%s is cabled to %s, where most nodes have %s: %d of %d have %s there", p.name(), p.at.name, strings.Join(usual, ", "), p.at.of[p.hca], p.at.of[p.hca]+p.at.elsewhere[p.hca], p.hca), remedyRails)
		case mixed[p.at]:
		case declared:
			v.fail(o, p.at.name, p.at.mix(), remedyRails)
			mixed[p.at] = true
		default:
			v.note(o, p.at.name, p.at.mix(), remedyTopology)
			mixed[p.at] = true
		}
	}
}

// plugs are the site's adapters whose link is up, by node.
func (g *Gate) plugs(ports []iblinkinfo.Port, who names) map[string][]plug {
	at := map[string]*leaf{}
	leaves := map[string]*leaf{}
	for _, p := range ports { // a link is there from both ends; the switch's is enough
		adapter := who.end(p.PeerGUID, p.Peer, p.PeerPort)
		if !p.Up() || !adapter.expected || who.end(p.GUID, p.Node, p.Port).adapter {
			continue
		}
		if leaves[p.GUID] == nil {
			leaves[p.GUID] = &leaf{id: p.GUID, name: p.Node, nodes: map[string]bool{}, of: map[string]int{}, elsewhere: map[string]int{}, like: map[string]int{}}
		}
		at[adapter.name] = leaves[p.GUID]
	}
	out := map[string][]plug{}
	for _, n := range g.site.Inventory.Nodes {
		for _, hca := range g.site.Fabric.HCAs {
			if l := at[n.Name+"/"+hca]; l != nil {
				l.nodes[n.Name] = true
				l.of[hca]++
				out[n.Name] = append(out[n.Name], plug{n.Name, hca, l})
			}
		}
		for l := range leavesOf(out[n.Name]) {
			for _, p := range out[n.Name] {
				if p.at != l {
					l.elsewhere[p.hca]++
				}
			}
		}
	}
	return out
}

// countAlike counts the nodes that are cabled like their neighbours: at each of their leaves
// half of the nodes or more, and one other at least, have every adapter at the same leaf.
func countAlike(nodes map[string][]plug) int {
	cabling := map[string]string{}
	for name, plugs := range nodes {
		var text strings.Builder
		for _, p := range plugs {
			fmt.Fprintf(&text, "%s at %s; ", p.hca, p.at.id)
		}
		cabling[name] = text.String()
		for l := range leavesOf(plugs) {
			l.like[cabling[name]]++
		}
	}
	alike := 0
	for name, plugs := range nodes {
		of := cabling[name]
		like := func(l *leaf) bool { return l.like[of] > 1 && 2*l.like[of] >= len(l.nodes) }
		if !slices.ContainsFunc(plugs, func(p plug) bool { return !like(p.at) }) {
			alike++
		}
	}
	return alike
}

// leavesOf are the leaves of plugs, each once.
func leavesOf(plugs []plug) map[*leaf]bool {
	out := map[*leaf]bool{}
	for _, p := range plugs {
		out[p.at] = true
	}
	return out
}
