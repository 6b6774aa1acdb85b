package fabric

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/evidence/chart"
	"github.com/firstlight/firstlight/internal/gate/fabric/cabling"
)

// The tiers of a fabric: the distance from the hosts.
const (
	hostTier = iota
	leafTier
	spineTier
	coreTier
)

// Charts draws the cables that differ from the design, with their hosts and switches; nothing for a fabric
// as designed.
func (g *Gate) Charts(obs []check.Observation) []chart.Chart {
	var b check.Builder // findings are those of Judge
	c, ok := g.compareDesign(&b, obs, g.names(obs))
	if !ok || len(c.differences) == 0 {
		return nil
	}
	tiers := c.tiers()
	network := &chart.Network{Tiers: []string{hostTier: "hosts", leafTier: "leaves", spineTier: "spines", coreTier: "cores"}}
	differing := 0
	for _, d := range c.differences {
		var group []chart.Link
		for i := range max(len(d.Designed), len(d.Wired)) { // a cable as wired, then one as designed
			if i < len(d.Wired) {
				l := d.Wired[i]
				group = append(group, chart.Link{A: tiers.port(l.A), B: tiers.port(l.B), Hint: fmt.Sprintf("%s cable: %s, not in the design", d.Kind, l)})
			}
			if i < len(d.Designed) {
				l := d.Designed[i]
				group = append(group, chart.Link{A: tiers.port(l.A), B: tiers.port(l.B), Series: 1, Dashed: true, Hint: fmt.Sprintf("%s cable: %s, in the design only", d.Kind, l)})
			}
		}
		differing += len(d.Designed)
		network.Groups = append(network.Groups, group)
	}
	return []chart.Chart{{
		Title:   "Cables that differ from the design",
		Note:    fmt.Sprintf("%d of %d cables of the design are elsewhere or missing; cables as designed are not drawn", differing, len(c.designed)),
		Series:  []chart.Series{{Name: "wired, not in the design"}, {Name: "dashed: in the design, not wired"}},
		Network: network,
	}}
}

// tiers are the tiers of nodes, by name.
type tiers map[string]int

// port is a port as drawn: of a switch, or of a host with the name of the adapter.
func (t tiers) port(e cabling.End) chart.Port {
	tier, ok := t[e.Node]
	if !ok { // a switch without a path to a host
		tier = spineTier
	}
	if tier != hostTier {
		return chart.Port{Tier: tier, Node: e.Node, Name: "p" + strconv.Itoa(e.Port)}
	}
	host, adapter, _ := strings.Cut(e.Node, "/")
	if e.Port > 0 {
		adapter += " p" + strconv.Itoa(e.Port)
	}
	return chart.Port{Tier: hostTier, Node: host, Name: adapter}
}

// tiers follows the cables of the design; to nodes that the design lacks, those that are wired.
func (c comparison) tiers() tiers {
	out := tiers{}
	for _, links := range [][]cabling.Link{c.designed, c.cables} {
		for _, l := range links {
			for _, node := range []string{l.A.Node, l.B.Node} {
				if !c.switches[node] {
					out[node] = hostTier
				}
			}
		}
		for tier := range coreTier { // from the hosts on
			for _, l := range links {
				out.next(tier, l.A.Node, l.B.Node)
				out.next(tier, l.B.Node, l.A.Node)
			}
		}
	}
	return out
}

// next puts the other end of a cable from a tier into the next one, unless it has a tier.
func (t tiers) next(tier int, from, to string) {
	at, ok := t[from]
	if _, known := t[to]; ok && at == tier && !known {
		t[to] = tier + 1
	}
}

// Charts are those of all subnets.
func (s *Subnets) Charts(obs []check.Observation) []chart.Chart {
	var out []chart.Chart
	for i, g := range s.gates {
		for _, c := range g.Charts(check.OfGroup(obs, s.names[i])) {
			c.Title = "Subnet " + s.names[i] + ": " + c.Title
			out = append(out, c)
		}
	}
	return out
}
