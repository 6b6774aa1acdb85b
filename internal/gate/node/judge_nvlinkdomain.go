package node

import (
	"slices"
	"strings"

	"github.com/firstlight/firstlight/internal/check"
)

const remedyDomain = "compare nvidia-smi -q (Fabric: ClusterUUID, CliqueId) of the nodes with the partitions of the rack's NVLink switches (nv show sdn partition); correct the partition, or the rack of the node in the site's inventory"

// judgeNVLinkDomains judges NVLink domains of several nodes: the GPUs of a node are in one, and so are
// the nodes of a rack. Where the inventory has no racks, the nodes are in
// no more domains than they fill, or it is unobserved. It returns the domain of each host that has one.
func (g *Gate) judgeNVLinkDomains(b *check.Builder, hosts []*host, at slots) map[*host]string {
	if !g.profile.MultiNodeNVLink() {
		return nil
	}
	size := g.profile.Node.NVLinkDomain
	domains := map[*host]string{}
	members := map[string]int{}
	for _, h := range hosts {
		if domain := g.domain(b, h, at); domain != "" {
			domains[h] = domain
			members[domain]++
		}
	}
	for _, h := range hosts {
		if n := members[domains[h]]; float64(n) > size.Value {
			b.Fail(h.latestID(), h.name, remedyDomain, "NVLink domain %s has %d nodes, expected at most %g", domains[h], n, size.Value)
		}
	}
	racks := g.racks()
	if racks == nil {
		g.judgeSurplusDomains(b, hosts, domains, members)
		return domains
	}
	byRack := map[string]map[*host]string{}
	for h, domain := range domains {
		rack := racks[h.name]
		if byRack[rack] == nil {
			byRack[rack] = map[*host]string{}
		}
		byRack[rack][h] = domain
	}
	for _, h := range hosts {
		if d := differing(byRack[racks[h.name]])[h]; d != "" {
			b.Fail(h.latestID(), h.name, remedyDomain, "is in NVLink domain %s; of rack %s: %s", domains[h], racks[h.name], d)
		}
	}
	return domains
}

// domain is the NVLink domain of a host's GPUs: cluster and clique; "" if they have none in common,
// which is reported.
func (g *Gate) domain(b *check.Builder, h *host, at slots) string {
	doc, ok := h.latest()
	if !ok {
		return "" // reported by judgeUnobserved
	}
	var found []string
	for _, gpu := range doc.log.GPUs {
		switch suspect := at.gpu(h, gpu.BusID); {
		case len(gpu.Errors) > 0: // reported by judgeGPU
		case gpu.FabricCluster == "" || gpu.FabricClique == "":
			b.Unobserved(doc.obs.ID, suspect, remedyUnobserved, "does not report its NVLink domain (clusterUuid %q, cliqueId %q)", gpu.FabricCluster, gpu.FabricClique)
		case strings.Trim(gpu.FabricCluster, "0-") == "":
			b.Fail(doc.obs.ID, suspect, remedyDomain, "is in no NVLink domain: its clusterUuid is zero")
		default:
			found = append(found, gpu.FabricCluster+"."+gpu.FabricClique)
		}
	}
	slices.Sort(found)
	found = slices.Compact(found)
	if len(found) > 1 {
		b.Fail(doc.obs.ID, h.name, remedyDomain, "its GPUs are in %d NVLink domains: %s", len(found), strings.Join(found, ", "))
	}
	if len(found) != 1 {
		return ""
	}
	return found[0]
}

// racks are the racks of the inventory's nodes by name; nil unless every node has one.
func (g *Gate) racks() map[string]string {
	racks := map[string]string{}
	for _, n := range g.site.Inventory.Nodes {
		if n.Rack == "" {
			return nil
		}
		racks[n.Name] = n.Rack
	}
	return racks
}

// judgeSurplusDomains asks for the racks of nodes that are in more domains than they fill. Nodes that
// are left out fill them too. Racks may have spare trays, so that more domains are not a defect.
func (g *Gate) judgeSurplusDomains(b *check.Builder, hosts []*host, domains map[*host]string, members map[string]int) {
	inventory := g.site.Inventory
	most := g.profile.NVLinkDomains(len(inventory.Nodes) + len(inventory.LeftOut))
	if len(members) <= most {
		return
	}
	for _, h := range hosts {
		if n := members[domains[h]]; n > 0 {
			b.Unobserved(h.latestID(), h.name, "name the rack of each node in the site's inventory (rack), then run the gate again; "+remedyDomain,
				"is in NVLink domain %s with %d nodes; the nodes are in %d domains and fill %d: whether they are in the right ones is unknown without their racks", domains[h], n, len(members), most)
		}
	}
}

// latestID is the observation of the newest document; "" without one.
func (h *host) latestID() string {
	doc, _ := h.latest()
	return doc.obs.ID
}
