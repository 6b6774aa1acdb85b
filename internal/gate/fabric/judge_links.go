package fabric

import (
	"fmt"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/probe/infiniband"
)

// judgeLinks counts links, each seen from both its ends, and judges their
// speed and width. It returns the cabling for the other judges.
func (g *Gate) judgeLinks(v *verdict, obs []check.Observation, who names) topology {
	cabled := topology{}
	ports, o, ok := one[[]infiniband.LinkPort](v, obs, kindLinks, remedySSH)
	if !ok {
		return cabled
	}
	up := map[string]bool{}
	before := len(v.failed)
	for _, p := range ports {
		if p.Peer == "" || aggregation(p.Node) || aggregation(p.Peer) {
			continue
		}
		here, there := who.end(p.GUID, p.Node, p.Port), who.end(p.PeerGUID, p.Peer, p.PeerPort)
		c := cableOf(here, there)
		cabled[here.name] = c
		switch {
		case p.Up():
			g.speed(v, o, p, c)
			up[c.String()] = true
		case p.State == "Initialize" || p.State == "Armed":
			v.fail(o, suspectSM, fmt.Sprintf("link %s is in state %s: no subnet manager has configured it", c, p.State), remedySM)
		default:
			v.fail(o, c.near.name, fmt.Sprintf("link %s is %s / %s", c, p.State, p.PhysState), remedyLink)
		}
	}
	for _, n := range g.site.Inventory.Nodes {
		for _, hca := range g.site.Fabric.HCAs {
			name := n.Name + "/" + hca
			if _, ok := cabled[name]; !ok {
				v.fail(o, name, name+" has no link in the subnet: its cable is out, its port is down, or its node is off", remedyLink)
			}
		}
	}
	g.switches(v, o, ports, who)
	g.judgeRails(v, o, ports, who)
	want := g.site.Fabric.Links
	v.figures = append(v.figures, check.Figure{Name: "links up", Value: float64(len(up)), Unit: "links", Limit: float64(want), Relation: "==", Source: "site fabric.links"})
	if len(up) != want && len(v.failed) == before {
		v.fail(o, "fabric", fmt.Sprintf("%d links are up, the site expects %d", len(up), want), "find the missing or additional cables (iblinkinfo against the cabling plan), or correct fabric.links in the site")
	}
	return cabled
}

// speed judges one end of a link that is up.
func (g *Gate) speed(v *verdict, o check.Observation, p infiniband.LinkPort, c cable) {
	f := g.profile.Fabric
	if p.LaneGbps < f.LaneSpeed.Value {
		v.fail(o, c.near.name, fmt.Sprintf("link %s runs at %g Gb/s a lane, not %g", c, p.LaneGbps, f.LaneSpeed.Value), remedyLink)
	}
	if p.Width < int(f.Width.Value) {
		v.fail(o, c.near.name, fmt.Sprintf("link %s runs %dX wide, not %dX", c, p.Width, int(f.Width.Value)), remedyLink)
	}
}

// switches judges the cables between switches, of which the site knows only
// the number: every pair of an edge and an inner switch must have as many as
// most pairs have.
func (g *Gate) switches(v *verdict, o check.Observation, ports []infiniband.LinkPort, who names) {
	present := map[string]bool{}
	edge := map[string]bool{}
	between := map[[2]string]int{}
	for _, p := range ports {
		if !who.declared[p.Node] {
			continue
		}
		present[p.Node] = true
		switch peer := who.end(p.PeerGUID, p.Peer, p.PeerPort); {
		case p.Peer != "" && peer.expected:
			edge[p.Node] = true
		case who.declared[p.Peer] && p.Up():
			between[[2]string{p.Node, p.Peer}]++
		}
	}
	for _, name := range g.site.Fabric.Switches {
		if !present[name] {
			v.fail(o, name, "switch "+name+" is not in the subnet", "check that it is powered and cabled, and its name against fabric.switches in the site")
		}
	}
	usual := usualCount(g.site.Fabric.Switches, edge, between)
	for _, leaf := range g.site.Fabric.Switches {
		for _, spine := range g.site.Fabric.Switches {
			n := between[[2]string{leaf, spine}]
			if !edge[leaf] || edge[spine] || !present[leaf] || !present[spine] || n >= usual {
				continue
			}
			v.fail(o, leaf+" to "+spine, fmt.Sprintf("%s and %s have %d links between them, other pairs have %d", leaf, spine, n, usual), remedyLink)
		}
	}
}

// usualCount is how many links most pairs of edge and inner switches have.
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
	for n, count := range times {
		if count > times[best] || (count == times[best] && n > best) {
			best = n
		}
	}
	return best
}
