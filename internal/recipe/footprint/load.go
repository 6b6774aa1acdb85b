package footprint

import (
	"cmp"
	"slices"

	"github.com/firstlight/firstlight/internal/diag"
	"github.com/firstlight/firstlight/internal/recipe/model"
	"github.com/firstlight/firstlight/internal/recipe/rule"
	"github.com/firstlight/firstlight/internal/recipe/tree"
)

// Dir is the directory of footprints in a tree.
const Dir = "footprints"

// Values of spec.source.
const (
	Rendered   = "rendered"
	Documented = "documented"
)

// Set has the footprints of a tree.
type Set struct {
	// Footprints are sorted by name.
	Footprints []*Footprint
	// Shipped is set if the tree has no footprints and those embedded in firstlight are used.
	Shipped bool
}

// Footprint is a parsed footprint file.
type Footprint struct {
	tree.Asset
	*model.Footprint
	// Uses are the label, taint and resource keys in its constant fields.
	Uses      []Use
	workloads []workloadSpec
	renders   map[string][]rendered
}

// Load reads footprints/. With problems of severity Error the result is incomplete and only
// useful for reports.
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
			problems = append(problems, rule.DuplicateName.At(f.ValueAt("metadata", "name"), "name %s is already used by %s", f.Metadata.Name, first.ValueAt("metadata", "name")))
			continue
		}
		s.Footprints = append(s.Footprints, f)
	}
	slices.SortFunc(s.Footprints, func(a, b *Footprint) int { return cmp.Compare(a.Metadata.Name, b.Metadata.Name) })
	return s, problems.Sort()
}

// Get returns the footprint of a component.
func (s *Set) Get(component string) (*Footprint, bool) {
	i := slices.IndexFunc(s.Footprints, func(f *Footprint) bool { return f.Metadata.Name == component })
	if i < 0 {
		return nil, false
	}
	return s.Footprints[i], true
}

// WorkloadPos is the position of a workload's entry, or of the list of workloads.
func (s *Set) WorkloadPos(component, kind, name string) diag.Pos {
	f, ok := s.Get(component)
	if !ok {
		return diag.Pos{}
	}
	return f.lastOf(kind, name)
}
