package footprint

import (
	"cmp"
	"slices"

	"github.com/firstlight/firstlight/internal/diag"
	"github.com/firstlight/firstlight/internal/recipe/model"
	"github.com/firstlight/firstlight/internal/recipe/rule"
	"github.com/firstlight/firstlight/internal/recipe/tree"
)

// Dir is where footprints stand in a tree.
const Dir = "footprints"

// Sources of footprints.
const (
	Rendered   = "rendered"
	Documented = "documented"
)

// Set is every footprint that a tree has.
type Set struct {
	// Footprints by name.
	Footprints []*Footprint
	// Shipped says that the tree has none: those that ship with firstlight serve.
	Shipped bool
}

// Footprint is a footprint's file with what it comes to.
type Footprint struct {
	tree.Asset
	*model.Footprint
	// Uses are the keys by which what is hard-coded chooses nodes.
	Uses      []Use
	workloads []workloadSpec
	renders   map[string][]rendered
}

// Load reads footprints/. It comes back with what could be read; with problems of
// severity error it is not to be used, but to be looked at.
func Load(t *tree.Tree) (*Set, diag.List) {
	files, own, problems := t.Assets(tree.Below(Dir))
	s := &Set{Shipped: !own}
	for i := range files {
		if files[i].Doc == nil {
			continue
		}
		f, wrong := parse(files[i])
		problems = append(problems, wrong...)
		if f == nil {
			continue
		}
		if first, twice := s.Get(f.Metadata.Name); twice {
			problems = append(problems, rule.DuplicateName.At(f.ValueAt("metadata", "name"), "%s is the name of %s too", f.Metadata.Name, first.ValueAt("metadata", "name")))
			continue
		}
		s.Footprints = append(s.Footprints, f)
	}
	slices.SortFunc(s.Footprints, func(a, b *Footprint) int { return cmp.Compare(a.Metadata.Name, b.Metadata.Name) })
	return s, problems.Sort()
}

// Get finds the footprint of a component.
func (s *Set) Get(component string) (*Footprint, bool) {
	i := slices.IndexFunc(s.Footprints, func(f *Footprint) bool { return f.Metadata.Name == component })
	if i < 0 {
		return nil, false
	}
	return s.Footprints[i], true
}

// Place is where the entry of a workload stands, or where entries do.
func (s *Set) Place(component, kind, name string) diag.Pos {
	f, ok := s.Get(component)
	if !ok {
		return diag.Pos{}
	}
	return f.lastOf(kind, name)
}
