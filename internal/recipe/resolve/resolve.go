package resolve

import (
	"errors"
	"maps"
	"slices"

	"github.com/firstlight/firstlight/internal/diag"
	"github.com/firstlight/firstlight/internal/recipe/constraint"
	"github.com/firstlight/firstlight/internal/recipe/criteria"
	"github.com/firstlight/firstlight/internal/recipe/model"
	"github.com/firstlight/firstlight/internal/recipe/tree"
)

// Options configure Resolve; the zero value is the default.
type Options struct {
	// Compat resolves as aicr does in the version criteria.LegacyVersion. It requires a tree
	// loaded with Legacy.
	Compat bool
	// Snapshot excludes overlays whose constraints do not hold; nil: none are excluded.
	Snapshot *constraint.Snapshot
	// Profile is name=value; empty: the default.
	Profile string
	// Set are values with the highest precedence.
	Set []Assignment
	// Explain records which layer set each value.
	Explain bool
}

// Result is a resolved recipe with its origin.
type Result struct {
	*model.Recipe
	// Query is the normalized query.
	Query criteria.Criteria
	// Applied are the overlays in merge order, the root first.
	Applied []*tree.Overlay
	// Matched has the applied overlays that match the criteria; the others are bases of those.
	Matched map[string]bool
	// Profiles are the values of the recipe's profile as name=value, sorted.
	Profiles []string
	// Warnings are problems that do not prevent the use of the recipe.
	Warnings diag.List

	tree   *tree.Tree
	compat bool
	trace  trace
}

// Resolve builds the recipe for a query. It returns a *CoverageError if criteria of the query
// have no effect, and a diag.List if the overlays are inconsistent.
func Resolve(t *tree.Tree, query criteria.Criteria, o Options) (*Result, error) {
	r, err := resolve(t, query, o)
	if list, ok := errors.AsType[diag.List](err); ok && !o.Explain {
		o.Explain = true // gives problems a position
		if _, err = resolve(t, query, o); err == nil {
			return nil, list
		}
	}
	return r, err
}

func resolve(t *tree.Tree, query criteria.Criteria, o Options) (*Result, error) {
	q := t.Query(query)
	matched := t.Matching(q)
	sortOverlays(matched, o.Compat)
	excluded := exclude(t, matched, o)
	kept := slices.DeleteFunc(slices.Clone(matched), func(m *tree.Overlay) bool { return excluded.has(m) })
	if err := answers(t, query, q, kept, excluded, o); err != nil {
		return nil, err
	}
	d := newDraft(t, o)
	d.mergeAll(kept)
	if err := d.mixins(); err != nil {
		return nil, err
	}
	if err := d.profile(o.Profile); err != nil {
		return nil, err
	}
	if err := d.assign(o.Set); err != nil {
		return nil, err
	}
	d.defaults()
	order, warnings, err := d.order()
	if err != nil {
		return nil, err
	}
	r := &Result{
		Recipe: d.recipe(q, order), Query: q, Applied: d.applied, Matched: map[string]bool{}, Warnings: warnings,
		tree: t, compat: o.Compat, trace: d.trace,
	}
	r.Metadata.ExcludedOverlays, r.Metadata.ConstraintWarnings = excluded.overlays, excluded.warnings
	for _, m := range kept {
		r.Matched[m.Name] = true
	}
	if n := len(d.profiles); n > 0 {
		for _, value := range slices.Sorted(maps.Keys(d.profiles[n-1].Values)) {
			r.Profiles = append(r.Profiles, d.profiles[n-1].Name+"="+value)
		}
	}
	return r, nil
}

// answers checks that the applied overlays answer the query.
func answers(t *tree.Tree, asked, q criteria.Criteria, kept []*tree.Overlay, excluded *exclusion, o Options) error {
	if o.Compat {
		return compatible(asked, kept)
	}
	return covered(t, q, kept, excluded)
}

// Tree returns the tree that the recipe was resolved from.
func (r *Result) Tree() *tree.Tree { return r.tree }

// Compat reports whether the recipe was resolved as aicr does.
func (r *Result) Compat() bool { return r.compat }

// Component returns a component of the recipe by name.
func (r *Result) Component(name string) (*model.ComponentRef, bool) {
	i := slices.IndexFunc(r.ComponentRefs, func(c model.ComponentRef) bool { return c.Name == name })
	if i < 0 {
		return nil, false
	}
	return &r.ComponentRefs[i], true
}
