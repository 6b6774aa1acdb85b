package impact

import (
	"cmp"
	"context"
	"io/fs"
	"runtime"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/firstlight/firstlight/internal/diag"
	"github.com/firstlight/firstlight/internal/recipe/resolve"
	"github.com/firstlight/firstlight/internal/recipe/tree"
)

// State is a recipe tree at one revision.
type State struct {
	// FS holds the tree; nil if it does not exist.
	FS fs.FS
	// Label replaces the directory in messages.
	Label string
	// Name is the revision as requested, Commit its ID, both for display. Commit is empty for
	// the working tree.
	Name, Commit string
}

// Loaded is a tree with its node profiles and footprints.
type Loaded struct {
	Tree *tree.Tree
	// Err is set if the tree is invalid.
	Err error

	assets *assets
}

// Load loads a state. Trees loaded with the same cache share unchanged files.
func Load(s State, cache *tree.Cache) *Loaded {
	return Of(tree.Load(s.FS, tree.Options{Label: s.Label, Cache: cache}))
}

// Of adds node profiles and footprints to a tree that was loaded with problems.
func Of(t *tree.Tree, problems diag.List) *Loaded {
	assets, more := loadAssets(t)
	return &Loaded{Tree: t, Err: slices.Concat(problems, more).Sort().Err(), assets: assets}
}

// Names returns the names of all recipes, sorted.
func (l *Loaded) Names() []string {
	var out []string
	for _, o := range l.Tree.Recipes() {
		out = append(out, o.Name)
	}
	slices.Sort(out)
	return out
}

// Measured holds the inputs of a recipe.
type Measured struct {
	// Inputs are sorted; empty if the recipe cannot be resolved.
	Inputs []resolve.Input
	// Digest of the inputs; empty if the recipe cannot be resolved.
	Digest string
	// Err is the reason why the recipe cannot be resolved.
	Err error
}

// Measure resolves recipes by name, in parallel. It ignores unknown names. The error is the
// context's.
func (l *Loaded) Measure(ctx context.Context, names []string) (map[string]Measured, error) {
	measured := make([]Measured, len(names))
	err := forEach(ctx, len(names), func(i int) {
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

// forEach calls f for 0 to n-1 in parallel. It returns the cause of the context's end if
// that came before the last call.
func forEach(ctx context.Context, n int, f func(i int)) error {
	var g errgroup.Group
	g.SetLimit(runtime.GOMAXPROCS(0))
	for i := range n {
		if ctx.Err() != nil {
			break
		}
		g.Go(func() error {
			f(i)
			return nil
		})
	}
	_ = g.Wait() // f returns no error
	return context.Cause(ctx)
}

func (l *Loaded) measure(o *tree.Overlay) Measured {
	r, err := resolve.Resolve(l.Tree, o.Criteria, resolve.Options{})
	if err != nil {
		return Measured{Err: err}
	}
	inputs := append(r.Inputs(), l.assets.inputs(r)...)
	slices.SortFunc(inputs, func(a, b resolve.Input) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Part, b.Part), cmp.Compare(a.Why, b.Why))
	})
	return Measured{Inputs: inputs, Digest: digestOf(inputs)}
}
