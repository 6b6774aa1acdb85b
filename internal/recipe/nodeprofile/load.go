package nodeprofile

import (
	"cmp"
	"slices"

	"github.com/firstlight/firstlight/internal/diag"
	"github.com/firstlight/firstlight/internal/recipe/model"
	"github.com/firstlight/firstlight/internal/recipe/rule"
	"github.com/firstlight/firstlight/internal/recipe/tree"
)

// Where profiles and accelerators stand in a tree.
const (
	Dir              = "nodes"
	AcceleratorsFile = "accelerators.yaml"
)

// Set is every shape that a tree has.
type Set struct {
	// Profiles by name; AcceleratorList in the order of the file.
	Profiles        []*Profile
	AcceleratorList []*Accelerator
	// ProfilesShipped and AcceleratorsShipped say that the tree has none: those that
	// ship with firstlight serve.
	ProfilesShipped, AcceleratorsShipped bool
	// AcceleratorsFile is accelerators.yaml, for places.
	AcceleratorsFile *tree.Asset
}

// Profile is a profile's file with what it comes to.
type Profile struct {
	tree.Asset
	*model.NodeProfile
	Shape *Shape
}

// Load reads nodes/ and accelerators.yaml. It comes back with what could be read;
// with problems of severity error it is not to be used, but to be looked at.
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
	slices.SortStableFunc(s.Profiles, func(a, b *Profile) int { return cmp.Compare(a.Shape.Name, b.Shape.Name) })
	problems = append(problems, s.twice()...)
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

// twice drops all but the first of profiles that have one name.
func (s *Set) twice() diag.List {
	var problems diag.List
	all := slices.Clone(s.Profiles)
	s.Profiles = slices.DeleteFunc(s.Profiles, func(p *Profile) bool {
		first := all[slices.IndexFunc(all, func(o *Profile) bool { return o.Shape.Name == p.Shape.Name })]
		if first != p {
			problems = append(problems, rule.DuplicateName.At(p.ValueAt("metadata", "name"), "%s is the name of %s too", p.Shape.Name, first.ValueAt("metadata", "name")))
		}
		return first != p
	})
	return problems
}

// Get finds a shape by its name.
func (s *Set) Get(name string) (*Shape, bool) {
	i := slices.IndexFunc(s.Profiles, func(p *Profile) bool { return p.Shape.Name == name })
	if i < 0 {
		return nil, false
	}
	return s.Profiles[i].Shape, true
}

// All are the shapes, by name.
func (s *Set) All() []*Shape {
	out := make([]*Shape, len(s.Profiles))
	for i, p := range s.Profiles {
		out[i] = p.Shape
	}
	return out
}
