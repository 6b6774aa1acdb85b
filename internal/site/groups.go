package site

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/firstlight/firstlight/internal/profile"
)

// Group is a part of the inventory with hardware of its own.
type Group struct {
	Name string `yaml:"name" json:"name"`
	// Profile names a shipped hardware profile or a profile file, as the site's.
	Profile string `yaml:"profile" json:"profile"`
	// Nodes are names of GPU nodes of the inventory.
	Nodes []string `yaml:"nodes" json:"nodes"`
	// Figures is the profile.
	Figures *profile.Profile `yaml:"-" json:"-"`
}

// View is the nodes with one profile, as a site: the other nodes of the inventory are left out.
type View struct {
	// Name of the group; that of the site's profile for the nodes of no group.
	Name    string
	Site    *Site
	Profile *profile.Profile
}

// Views are the groups of the site, the nodes of no group first; one view without groups. p is the
// site's profile.
func (s *Site) Views(p *profile.Profile) []View {
	if len(s.Groups) == 0 {
		return []View{{Name: p.Name, Site: s, Profile: p}}
	}
	views := []View{s.view(p.Name, p, func(group string) bool { return group == "" })}
	for _, g := range s.Groups {
		views = append(views, s.view(g.Name, g.Figures, func(group string) bool { return group == g.Name }))
	}
	return views
}

func (s *Site) view(name string, p *profile.Profile, in func(group string) bool) View {
	var others []string
	for _, node := range s.NodeNames() {
		if !in(s.groupOf(node).Name) {
			others = append(others, node)
		}
	}
	return View{Name: name, Site: s.Part(others), Profile: p}
}

// groupOf is the group of a node; the zero Group for a node of none.
func (s *Site) groupOf(node string) Group {
	for _, g := range s.Groups {
		if slices.Contains(g.Nodes, node) {
			return g
		}
	}
	return Group{}
}

// ProfileOf is the profile of a node. p is the site's.
func (s *Site) ProfileOf(node string, p *profile.Profile) *profile.Profile {
	return cmp.Or(s.groupOf(node).Figures, p)
}

// ProfileFile is the name of the input of a run that has the profile of a group.
func (g Group) ProfileFile() string { return "profile-" + g.Name + ".yaml" }

// GroupOfProfileFile is the group whose ProfileFile has this name.
func GroupOfProfileFile(name string) (group string, ok bool) {
	group, profile := strings.CutPrefix(name, "profile-")
	group, yaml := strings.CutSuffix(group, ".yaml")
	return group, profile && yaml
}

// groups validates the groups and loads their profiles, unless they are given. p is the site's
// profile; nil if it is unknown.
func (v *validator) groups(s *Site, p *profile.Profile) {
	names, nodes := map[string]string{}, map[string]string{}
	inventory, loaded := map[string]bool{}, map[string]*profile.Profile{}
	for _, name := range s.NodeNames() {
		inventory[name] = true
	}
	for i := range s.Groups {
		g, path := &s.Groups[i], fmt.Sprintf("groups.%d", i)
		if !dnsLabel.MatchString(g.Name) {
			v.add(path+".name", "%q: use lower-case letters, digits and dashes, 63 at most", g.Name)
		}
		v.once(names, path+".name", g.Name)
		if p != nil && g.Name == p.Name {
			v.add(path+".name", "%q is the site's profile, and the name of the nodes of no group", g.Name)
		}
		if len(g.Nodes) == 0 {
			v.add(path+".nodes", "is missing: name the GPU nodes of the group")
		}
		for j, node := range g.Nodes {
			at := fmt.Sprintf("%s.nodes.%d", path, j)
			if !inventory[node] {
				v.add(at, "%q is not in inventory.nodes", node)
			}
			v.once(nodes, at, node)
		}
		g.Figures = v.groupProfiles[g.Name]
		if g.Figures == nil {
			g.Figures = loaded[g.Profile]
		}
		if g.Figures == nil {
			var err error
			if g.Figures, err = profile.Load(g.Profile); err != nil {
				v.add(path+".profile", "%s", err)
				continue
			}
			loaded[g.Profile] = g.Figures
		}
		if p != nil && !g.Figures.SameFabric(p) {
			v.add(path+".profile", "%s has another fabric than the site's profile %s: gate fabric judges one fabric, so declare these nodes as a site of their own, and name them in inventory.otherNodes of this one", g.Profile, s.Profile)
		}
	}
	if n := len(s.Inventory.Nodes); len(s.Groups) > 0 && n > 0 && len(nodes) >= n {
		v.add("groups", "have all nodes of the inventory: the nodes of the site's profile belong to no group")
	}
}
