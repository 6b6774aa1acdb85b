package tree

import (
	"slices"
	"strconv"
	"strings"

	"github.com/firstlight/firstlight/internal/diag"
	"github.com/firstlight/firstlight/internal/recipe/rule"
)

// entry is the position of the name of a list entry.
func (t *Tree) entry(file, list string, i int) diag.Pos {
	return t.Pos(file, list, strconv.Itoa(i), "name")
}

// link sets the parent and depth of every overlay and builds the index by criteria.
func (t *Tree) link() diag.List {
	var problems diag.List
	if t.Base == nil {
		problems = append(problems, rule.NoBase.At(diag.Pos{File: t.Name(overlayDir + "/" + baseFile)}, "the root overlay is missing"))
		t.Base = emptyBase()
	}
	t.Base.Name = BaseName
	if other, taken := t.byName[BaseName]; taken {
		problems = append(problems, t.duplicateName(other.File, t.Base.File, BaseName))
		t.Overlays = slices.DeleteFunc(t.Overlays, func(o *Overlay) bool { return o == other })
	}
	t.byName[BaseName] = t.Base
	slices.SortFunc(t.Overlays, byName)
	for _, o := range t.Overlays {
		parent, ok := t.byName[baseName(o)]
		if !ok {
			p := t.missingParent(o)
			problems = append(problems, p)
			o.Broken, parent = &p, t.Base
		}
		o.Parent = parent
	}
	problems = append(problems, t.breakCycles()...)
	for _, o := range t.Overlays {
		o.Depth = depth(o)
		o.Parent.Children++
		if o.Applies {
			t.byCriteria[o.Criteria] = append(t.byCriteria[o.Criteria], o)
		}
	}
	return problems
}

func baseName(o *Overlay) string {
	if o.Spec.Base == "" {
		return BaseName
	}
	return o.Spec.Base
}

func (t *Tree) missingParent(o *Overlay) diag.Problem {
	names := make([]string, 0, len(t.Overlays))
	for _, other := range t.Overlays {
		names = append(names, other.Name)
	}
	p := rule.MissingParent.At(t.ValuePos(o.File, "spec", "base"), "base of %s not found: %s", o.Name, o.Spec.Base)
	if near := diag.Nearest(o.Spec.Base, names); near != "" {
		p = p.With("did you mean %s?", near)
	}
	return p
}

// breakCycles reports every cycle once, at its first overlay by name, and makes the root the
// parent of that overlay, so that every chain ends.
func (t *Tree) breakCycles() diag.List {
	var problems diag.List
	done := map[*Overlay]bool{t.Base: true}
	for _, o := range t.Overlays {
		on := map[*Overlay]bool{}
		at := o
		for !done[at] && !on[at] {
			on[at] = true
			at = at.Parent
		}
		if on[at] {
			problems = append(problems, t.cycle(at))
		}
		for seen := range on {
			done[seen] = true
		}
	}
	return problems
}

func (t *Tree) cycle(at *Overlay) diag.Problem {
	first, names := at, []string{at.Name}
	for o := at.Parent; o != at; o = o.Parent {
		names = append(names, o.Name)
		if o.Name < first.Name {
			first = o
		}
	}
	i := slices.Index(names, first.Name)
	names = append(append(slices.Clone(names[i:]), names[:i]...), first.Name)
	first.Parent = t.Base
	p := rule.BaseCycle.At(t.ValuePos(first.File, "spec", "base"), "cycle of spec.base: %s", strings.Join(names, " -> "))
	first.Broken = &p
	return p
}

func depth(o *Overlay) int {
	n := 0
	for at := o; at.Parent != nil; at = at.Parent {
		n++
	}
	return n
}
