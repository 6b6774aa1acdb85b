package collective

import (
	"slices"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/gate/collective/sequential"
	"github.com/firstlight/firstlight/internal/site"
)

// alike are nodes whose pairs have the same limit, so that they can be compared with each other.
type alike struct {
	// name is empty for all nodes of a cluster.
	name  string
	nodes []string
}

// alike divides the nodes of a run over all nodes. Where NVLink connects nodes, a pair across domains
// cannot reach the limit of NVLink, whatever its nodes: the log of the run shows the domains, else the
// inventory the racks. None: neither is known, and the nodes do not fit into one domain.
func (d Drift) alike(nodes []string, all Figures) []alike {
	if !d.profile.MultiNodeNVLink() {
		return []alike{{nodes: nodes}}
	}
	var out []alike
	domains, whole := d.domainsOf(&check.Builder{}, "", all)
	if whole {
		for _, domain := range domains {
			out = append(out, alike{domainName(domain.id), domain.nodes})
		}
		return out
	}
	if len(domains) == 0 && d.fitOneDomain() {
		return []alike{{nodes: nodes}}
	}
	for _, node := range nodes {
		at := slices.IndexFunc(d.site.Inventory.Nodes, func(n site.Node) bool { return n.Name == node })
		if at < 0 || d.site.Inventory.Nodes[at].Rack == "" {
			return nil
		}
		name := "rack " + d.site.Inventory.Nodes[at].Rack
		i := slices.IndexFunc(out, func(a alike) bool { return a.name == name })
		if i < 0 {
			i, out = len(out), append(out, alike{name: name})
		}
		out[i].nodes = append(out[i].nodes, node)
	}
	return out
}

// fitOneDomain reports whether no node of the site has a rack, and one NVLink domain may have all of them.
func (d Drift) fitOneDomain() bool {
	inventory := d.site.Inventory
	racked := slices.ContainsFunc(inventory.Nodes, func(n site.Node) bool { return n.Rack != "" })
	return !racked && d.profile.NVLinkDomains(len(inventory.Nodes)+len(inventory.LeftOut)) == 1
}

// within are the samples of pairs of these nodes.
func within(nodes []string, samples []sequential.Sample) []sequential.Sample {
	return slices.DeleteFunc(slices.Clone(samples), func(s sequential.Sample) bool {
		return !slices.Contains(nodes, s.Nodes[0]) || !slices.Contains(nodes, s.Nodes[1])
	})
}

const (
	remedyUncompared = "run firstlight drift again; raise workloads.collective.timeout if pairs did not run"
	remedyNoRack     = "name the rack of each node in the site's inventory (rack), or use an image with NCCL 2.20 or later, which reports the NVLink domains; then run firstlight drift again"
	remedySmall      = "a comparison needs four nodes of one NVLink domain: judge these with firstlight accept --only node"
)
