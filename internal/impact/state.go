package impact

import (
	"cmp"
	"context"
	"io/fs"
	"slices"

	"github.com/firstlight/firstlight/internal/diag"
	"github.com/firstlight/firstlight/internal/recipe/resolve"
	"github.com/firstlight/firstlight/internal/recipe/tree"
)

// State is a recipe tree at one point of its history.
type State struct {
	// FS holds the tree; nil: there is none.
	FS fs.FS
	// Label is how it is called in messages.
	Label string
	// Name and Commit are how the state was asked for and what that is; for people.
	// Of what lies on disk Commit is empty.
	Name, Commit string
}

// Loaded is a tree with what its recipes read beside it.
type Loaded struct {
	Tree *tree.Tree
	// Err is why it can't be used.
	Err error

	beside *beside
}

// Load reads a state. Trees that were loaded with one cache share files that are the
// same.
func Load(s State, cache *tree.Cache) *Loaded {
	t, problems := tree.Load(s.FS, tree.Options{Label: s.Label, Cache: cache})
	l := &Loaded{Tree: t}
	var more diag.List
	l.beside, more = loadBeside(t)
	l.Err = append(problems, more...).Sort().Err()
	return l
}

// Names are all recipes of the tree, in order.
func (l *Loaded) Names() []string {
	var out []string
	for _, o := range l.Tree.Recipes() {
		out = append(out, o.Name)
	}
	slices.Sort(out)
	return out
}

// Measured is what a recipe is made of.
type Measured struct {
	// Inputs in order; none when the recipe can't be resolved.
	Inputs []resolve.Input
	// Digest of them; empty when the recipe can't be resolved.
	Digest string
	// Err is why it can't.
	Err error
}

// Measure resolves recipes by name, side by side. Recipes that the tree does not have
// are left out. The error is the context's.
func (l *Loaded) Measure(ctx context.Context, names []string) (map[string]Measured, error) {
	measured := make([]Measured, len(names))
	err := sideBySide(ctx, len(names), func(i int) {
		if o, ok := l.Tree.Overlay(names[i]); ok && o.Applies {
			measured[i] = l.measure(o)
		}
	})
	if err != nil {
		return nil, err
	}
	out := make(map[string]Measured, len(names))
	for i, m := range measured {
		if m.Digest != "" || m.Err != nil {
			out[names[i]] = m
		}
	}
	return out, nil
}

func (l *Loaded) measure(o *tree.Overlay) Measured {
	r, err := resolve.Resolve(l.Tree, o.Criteria, resolve.Options{})
	if err != nil {
		return Measured{Err: err}
	}
	inputs := append(r.Inputs(), l.beside.inputs(r)...)
	slices.SortFunc(inputs, func(a, b resolve.Input) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Part, b.Part), cmp.Compare(a.Why, b.Why))
	})
	return Measured{Inputs: inputs, Digest: digestOf(inputs)}
}
