package fabric

import (
	"maps"
	"slices"
	"strings"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/probe/infiniband"
)

const remedyStranger = "disconnect it, add it to inventory.nodes, fabric.hcas or fabric.switches (a switch may be given by its GUID) of the site, or, if it is of others (UFM, storage, login nodes), to fabric.others"

// judgeStrangers fails nodes of the subnet that are neither the site's nor in its fabric.others.
func (g *Gate) judgeStrangers(b *check.Builder, o check.Observation, ports []infiniband.LinkPort, names names) {
	at := map[string]string{} // a port that a stranger is cabled to, by the stranger
	for _, p := range ports {
		if p.Peer == "" || aggregation(p.Node) || aggregation(p.Peer) {
			continue
		}
		here, there := names.end(p.GUID, p.Node, p.Port), names.end(p.PeerGUID, p.Peer, p.PeerPort)
		if name, stranger := g.stranger(there, p.Peer); stranger && names.declared[p.Node] {
			at[name] = here.name
		}
	}
	for _, name := range slices.Sorted(maps.Keys(at)) {
		b.Fail(o.ID, name, remedyStranger, "%s is in the subnet, at %s, and neither the site's nor in its fabric.others", name, at[name])
	}
}

// stranger names a node that is neither the site's nor allowed.
func (g *Gate) stranger(end endpoint, description string) (name string, is bool) {
	switch {
	case end.other:
		return "", false
	case end.expected:
		_, device, _ := strings.Cut(end.name, "/")
		return end.name, !slices.Contains(g.site.Fabric.HCAs, device)
	case end.adapter:
		return end.name, true
	default:
		return description, !slices.Contains(g.site.Fabric.Switches, description)
	}
}

// otherNodes is the number of nodes of others on the subnet, given how many nodes it has and how
// many the site expects. iblinkinfo prints the GUIDs of ports: an adapter with two is one node if
// both have one description.
func (n names) otherNodes(total, expected int) int {
	descriptions := map[string]bool{}
	for _, description := range n.foreign {
		descriptions[description] = true
	}
	return min(max(total-expected, len(descriptions)), len(n.foreign))
}
