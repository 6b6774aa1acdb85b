package detect

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/firstlight/firstlight/internal/profile"
)

// kind is the GPU nodes of one product and number of GPUs with their profile and network.
type kind struct {
	group
	choice
	network fabric
	// apart is why the nodes cannot be a group of the site; empty if they can.
	apart string
}

// kinds are the GPU nodes of a site.
type kinds struct {
	// main has the site's profile; it is empty without GPU nodes.
	main kind
	// groups have profiles of their own. apart need a site of their own.
	groups, apart []kind
}

// kinds chooses the profiles of groups, of which the first has the site's. A group with the same profile is part of
// main: its nodes show their machine type, and not their GPUs.
func (s *Snapshot) kinds(k names, found []group) (kinds, error) {
	if len(found) == 0 {
		found = []group{{}}
	}
	var out kinds
	for i, g := range found {
		network := s.fabricOf(k, g)
		c, err := g.choose(network, out.main.candidates)
		if err != nil {
			return kinds{}, err
		}
		of := kind{group: g, choice: c, network: network}
		if i == 0 {
			out.main = of
			continue
		}
		of.apart = of.separate(out.main)
		switch {
		case of.profile != nil && out.main.profile != nil && of.profile.Name == out.main.profile.Name:
			out.main.machines = append(out.main.machines, g.machines...)
		case of.apart != "":
			out.apart = append(out.apart, of)
		default:
			out.groups = append(out.groups, of)
		}
	}
	all := slices.Clone(out.main.machines)
	for _, g := range out.groups {
		all = append(all, g.machines...)
	}
	out.main.network.hcas, out.main.network.hcasDiffer = s.hcas(all)
	return out, nil
}

// separate is why nodes cannot be a group of a site with the profile of main; empty if they can.
func (k kind) separate(main kind) string {
	a, b := k.network, main.network
	switch {
	case len(k.candidates) > 0 && len(main.candidates) > 0 && len(sharing(k.candidates, main.candidates)) == 0:
		return fmt.Sprintf("the fabric of profile %s is not that of %s, and gate fabric judges one fabric", list(k.candidates), list(main.candidates))
	case !slices.Equal(a.resources, b.resources),
		a.kind != "" && b.kind != "" && a.kind != b.kind,
		len(a.hcas) > 0 && len(b.hcas) > 0 && !slices.Equal(a.hcas, b.hcas):
		return fmt.Sprintf("they show %s, and the other nodes %s: the block fabric has one network", a, b)
	}
	return ""
}

// sharing are the profiles that have the fabric of one of others.
func sharing(profiles, others []*profile.Profile) []*profile.Profile {
	var out []*profile.Profile
	for _, p := range profiles {
		if slices.ContainsFunc(others, p.SameFabric) {
			out = append(out, p)
		}
	}
	return out
}

// demand sums a figure over the nodes of the site; known is false if a profile is not certain.
func (a kinds) demand(of func(profile.Node) profile.Figure) (nodes int, sum float64, known bool) {
	for _, k := range append([]kind{a.main}, a.groups...) {
		if k.profile == nil {
			return 0, 0, false
		}
		nodes += len(k.machines)
		sum += float64(len(k.machines)) * of(k.profile.Node).Value
	}
	const hundredths = 100 // of a kW or kg: a sum of fractions has more digits than its figures
	return nodes, math.Round(sum*hundredths) / hundredths, true
}

// sites writes a TODO for each kind of nodes that is not part of this site.
func (a kinds) sites(p *page) {
	for _, k := range a.apart {
		p.todo(0, "move %s (%s) from inventory.nodes to a site of their own, and name them in inventory.otherNodes: %s", strings.Join(nodeNames(k.machines), ", "), k.group, k.apart)
	}
}

// block writes the groups of the site.
func (a kinds) block(p *page) {
	if len(a.groups) == 0 {
		return
	}
	p.gap()
	p.note(0, "GPU nodes with other hardware than the profile above. Gates 3 to 8 judge each group by itself.")
	p.note(0, "firstlight baseline, drift and validate refuse a site with groups.")
	p.key(0, "groups")
	for _, k := range a.groups {
		proposal := k.proposal
		if k.product == "" {
			proposal.note += "; delete the group if its nodes have the site's profile"
		}
		p.set(2, "- name", byDefault(a.name(k), "by the product of the GPUs"))
		p.set(4, "profile", proposal)
		p.set(4, "nodes", seen(nodeNames(k.machines), "%s", k.group))
	}
}

// name is that of a group: its product, with the number of GPUs a node if another kind of nodes has the product.
func (a kinds) name(k kind) string {
	name, same := cmp.Or(label(profile.Product(k.product)), "other"), 0
	for _, other := range append([]kind{a.main}, a.groups...) {
		if profile.Product(other.product) == profile.Product(k.product) {
			same++
		}
	}
	if same > 1 {
		name += fmt.Sprintf("-x%d", k.gpus)
	}
	return name
}

func nodeNames(machines []machine) []string {
	names := make([]string, 0, len(machines))
	for _, m := range machines {
		names = append(names, m.node.Name)
	}
	return names
}
