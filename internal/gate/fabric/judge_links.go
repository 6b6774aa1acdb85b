package fabric

import (
	"maps"
	"slices"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/probe/infiniband"
)

// judgeLinks counts links, which are listed from both ends, and judges their speed and width.
// It returns the cabling.
func (g *Gate) judgeLinks(b *check.Builder, obs []check.Observation, names names) topology {
	cabled := topology{}
	ports, o, ok := check.RequireLast[[]infiniband.LinkPort](b, obs, kindLinks, "", g.site.Reach.SSH.FabricHost, remedySSH)
	if !ok {
		return cabled
	}
	ports = names.linkPorts(ports)
	up := map[string]bool{}
	before := b.Failures()
	for _, p := range ports {
		if p.Peer == "" || aggregation(p.Node) || aggregation(p.Peer) {
			continue
		}
		here, there := names.end(p.GUID, p.Node, p.Port), names.end(p.PeerGUID, p.Peer, p.PeerPort)
		c := cableOf(here, there)
		cabled[here.name] = c
		if g.leftOut(c.near.name) {
			continue
		}
		switch {
		case c.other(): // the rates and errors of others are theirs
		case p.Up():
			g.speed(b, o, p, c)
			up[c.String()] = true
		case p.State == "Initialize" || p.State == "Armed":
			b.Fail(o.ID, suspectSM, remedySM, "link %s is in state %s: no subnet manager has configured it", c, p.State)
		default:
			b.Fail(o.ID, c.near.name, remedyLink, "link %s is %s / %s", c, p.State, p.PhysState)
		}
	}
	for _, n := range g.site.Inventory.Nodes {
		for _, hca := range g.site.Fabric.HCAs {
			name := n.Name + "/" + hca
			if _, ok := cabled[name]; !ok {
				b.Fail(o.ID, name, remedyLink, "%s has no link in the subnet: the cable is unplugged, the port is down, or the node is off", name)
			}
		}
	}
	g.switches(b, o, ports, names)
	g.judgeRails(b, o, ports, names)
	g.judgeStrangers(b, o, ports, names)
	want := g.site.Fabric.Links
	b.Figure(check.Figure{Name: "links up", Value: float64(len(up)), Unit: "links", Limit: float64(want), Relation: "==", Source: "site fabric.links"})
	if len(up) != want && b.Failures() == before {
		b.Fail(o.ID, "fabric", "find the missing or additional cables (iblinkinfo against the cabling plan), or correct fabric.links in the site", "%d links are up, the site expects %d", len(up), want)
	}
	return cabled
}

// speed judges one end of an active link.
func (g *Gate) speed(b *check.Builder, o check.Observation, p infiniband.LinkPort, c cable) {
	f := g.profile.Fabric
	if p.LaneGbps < f.LaneSpeed.Value {
		b.Fail(o.ID, c.near.name, remedyLink, "link %s runs at %g Gb/s per lane, want %g", c, p.LaneGbps, f.LaneSpeed.Value)
	}
	if p.Width < int(f.Width.Value) {
		b.Fail(o.ID, c.near.name, remedyLink, "link %s is %dX wide, want %dX", c, p.Width, int(f.Width.Value))
	}
}

// switches judges the links between switches, of which the site declares only the number:
// every pair of a leaf and a spine switch must have as many as most pairs have.
func (g *Gate) switches(b *check.Builder, o check.Observation, ports []infiniband.LinkPort, names names) {
	present := map[string]bool{}
	edge := map[string]bool{}
	between := map[[2]string]int{}
	for _, p := range ports {
		if !names.declared[p.Node] {
			continue
		}
		present[p.Node] = true
		switch peer := names.end(p.PeerGUID, p.Peer, p.PeerPort); {
		case peer.expected:
			edge[p.Node] = true
		case names.declared[p.Peer] && p.Up():
			between[[2]string{p.Node, p.Peer}]++
		}
	}
	for _, name := range g.site.Fabric.Switches {
		if !present[name] {
			b.Fail(o.ID, name, "check its power and cables, and its description or GUID in fabric.switches of the site", "switch %s is not in the subnet", name)
		}
	}
	usual := usualCount(g.site.Fabric.Switches, edge, between)
	for _, leaf := range g.site.Fabric.Switches {
		for _, spine := range g.site.Fabric.Switches {
			n := between[[2]string{leaf, spine}]
			if !edge[leaf] || edge[spine] || !present[leaf] || !present[spine] || n >= usual {
				continue
			}
			b.Fail(o.ID, leaf+" to "+spine, remedyLink, "%s and %s have %d links between them, other pairs have %d", leaf, spine, n, usual)
		}
	}
}

// usualCount is the number of links that most pairs of leaf and spine switches have; the
// greater of two such numbers.
func usualCount(switches []string, edge map[string]bool, between map[[2]string]int) int {
	times := map[int]int{}
	for _, leaf := range switches {
		for _, spine := range switches {
			if edge[leaf] && !edge[spine] {
				times[between[[2]string{leaf, spine}]]++
			}
		}
	}
	best := 0
	for _, n := range slices.Sorted(maps.Keys(times)) {
		if times[n] >= times[best] {
			best = n
		}
	}
	return best
}
