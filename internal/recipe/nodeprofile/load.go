package nodeprofile

import (
	"cmp"
	"slices"

	"github.com/firstlight/firstlight/internal/diag"
	"github.com/firstlight/firstlight/internal/recipe/model"
	"github.com/firstlight/firstlight/internal/recipe/rule"
	"github.com/firstlight/firstlight/internal/recipe/tree"
)

// Paths in a recipe tree.
const (
	Dir              = "nodes"
	AcceleratorsFile = "accelerators.yaml"
)

// Set has the node profiles and accelerators of a tree.
type Set struct {
	// Profiles are sorted by name, AcceleratorList is in file order.
	Profiles        []*Profile
	AcceleratorList []*Accelerator
	// These are set if the tree has no such files and those embedded in firstlight are used.
	ProfilesShipped, AcceleratorsShipped bool
}

// Profile is a parsed profile file.
type Profile struct {
	tree.Asset
	*model.NodeProfile
	Node *Node
}

// Load reads nodes/ and accelerators.yaml. With problems of severity Error the result is
// incomplete and only useful for reports.
func Load(t *tree.Tree) (*Set, diag.List) {
	s := &Set{}
	files, own, problems := t.Assets(tree.Below(Dir))
	s.ProfilesShipped = !own
	for i := range files {
		if files[i].Doc == nil {
			continue
		}
		p, wrong := parse(files[i])
		problems = append(problems, wrong...)
		if p != nil {
			s.Profiles = append(s.Profiles, p)
		}
	}
	slices.SortStableFunc(s.Profiles, func(a, b *Profile) int { return cmp.Compare(a.Node.Name, b.Node.Name) })
	problems = append(problems, s.dropDuplicates()...)
	files, own, wrong := t.Assets(tree.Exactly(AcceleratorsFile))
	s.AcceleratorsShipped = !own
	problems = append(problems, wrong...)
	for i := range files {
		if files[i].Doc != nil {
			problems = append(problems, s.accelerators(&files[i])...)
		}
	}
	return s, problems.Sort()
}

// dropDuplicates keeps the first profile of each name.
func (s *Set) dropDuplicates() diag.List {
	var problems diag.List
	all := slices.Clone(s.Profiles)
	s.Profiles = slices.DeleteFunc(s.Profiles, func(p *Profile) bool {
		first := all[slices.IndexFunc(all, func(o *Profile) bool { return o.Node.Name == p.Node.Name })]
		if first != p {
			problems = append(problems, rule.DuplicateName.At(p.ValueAt("metadata", "name"), "name %s is already used by %s", p.Node.Name, first.ValueAt("metadata", "name")))
		}
		return first != p
	})
	return problems
}

// All returns the nodes, sorted by name.
func (s *Set) All() []*Node {
	out := make([]*Node, len(s.Profiles))
	for i, p := range s.Profiles {
		out[i] = p.Node
	}
	return out
}
