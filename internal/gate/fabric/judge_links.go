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

// switches judges the links between switches, of which the site declares only the number: every pair of a leaf and
// a spine switch must have as many as most pairs have. With a design, each cable is compared with it instead.
func (g *Gate) switches(b *check.Builder, o check.Observation, ports []infiniband.LinkPort, names names) {
	present := map[string]bool{}
	edge := map[string]bool{}
	between := map[pair]int{}
	for _, p := range ports {
		if !names.declared[p.Node] {
			continue
		}
		present[p.Node] = true
		switch peer := names.end(p.PeerGUID, p.Peer, p.PeerPort); {
		case peer.expected:
			edge[p.Node] = true
		case names.declared[p.Peer] && p.Up():
			between[pair{p.Node, p.Peer}]++
		}
	}
	var leaves, others []string
	for _, name := range g.site.Fabric.Switches {
		switch {
		case !present[name]:
			b.Fail(o.ID, name, "check its power and cables, and its description or GUID in fabric.switches of the site", "switch %s is not in the subnet", name)
		case edge[name]:
			leaves = append(leaves, name)
		default:
			others = append(others, name)
		}
	}
	if g.site.Fabric.Design != "" {
		return
	}
	spines := spinesOf(leaves, others, between)
	usual, least := usualLinks(leaves, spines, between)
	for _, leaf := range leaves {
		for _, spine := range spines {
			if n := between[pair{leaf, spine}]; n < least {
				b.Fail(o.ID, leaf+" to "+spine, remedyLink, "%s and %s have %d links between them, other pairs have %d", leaf, spine, n, usual)
			}
		}
	}
}

// pair is a leaf and a spine switch.
type pair struct{ leaf, spine string }

// spinesOf are the switches that have links to half of the leaves at least: the others are leaves without a node of the
// site, or above the spines.
func spinesOf(leaves, switches []string, between map[pair]int) []string {
	return slices.DeleteFunc(slices.Clone(switches), func(name string) bool {
		n := 0
		for _, leaf := range leaves {
			if between[pair{leaf, name}] > 0 {
				n++
			}
		}
		return n == 0 || 2*n < len(leaves)
	})
}

// usualLinks is the number of links that most pairs have, and the least that one must have: fewer where the uplinks that
// most leaves have cannot be the same to each spine (32 to 3 spines are 11, 11 and 10).
func usualLinks(leaves, spines []string, between map[pair]int) (usual, least int) {
	var pairs, uplinks []int
	for _, leaf := range leaves {
		all := 0
		for _, spine := range spines {
			n := between[pair{leaf, spine}]
			pairs = append(pairs, n)
			all += n
		}
		uplinks = append(uplinks, all)
	}
	usual = mostOften(pairs)
	return usual, min(usual, mostOften(uplinks)/max(1, len(spines)))
}

// mostOften is the number that occurs most often; the greater of two such numbers, 0 of none.
func mostOften(numbers []int) int {
	times := map[int]int{}
	for _, n := range numbers {
		times[n]++
	}
	best := 0
	for _, n := range slices.Sorted(maps.Keys(times)) {
		if times[n] >= times[best] {
			best = n
		}
	}
	return best
}
