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

// Options of one resolution; the zero value is the usual one.
type Options struct {
	// Compat resolves as aicr does, in the version criteria.LegacyVersion. The tree
	// has to be loaded with Legacy.
	Compat bool
	// Snapshot, where there is one, excludes overlays whose constraints do not hold.
	Snapshot *constraint.Snapshot
	// Profile is name=value; empty: the default.
	Profile string
	// Set are values over all others.
	Set []Assignment
	// Explain keeps which layer set each value.
	Explain bool
}

// Result is a recipe with what is known of how it came about.
type Result struct {
	*model.Recipe
	// Query is the criteria in the form in which they were matched.
	Query criteria.Criteria
	// Applied are the overlays in the order in which they were merged, the root first.
	Applied []*tree.Overlay
	// Matched says which of them the criteria matched; the others are there because
	// one of those is based on them.
	Matched map[string]bool
	// Profiles are the values of the recipe's profile, as name=value, in order.
	Profiles []string
	// Warnings are what does not keep the recipe from being used.
	Warnings diag.List

	tree   *tree.Tree
	compat bool
	trace  trace
}

// Resolve makes the recipe for a query. It fails with a *CoverageError when
// something that the query states has no effect, and with a diag.List when
// the overlays do not fit together.
func Resolve(t *tree.Tree, query criteria.Criteria, o Options) (*Result, error) {
	r, err := resolve(t, query, o)
	if list, ok := errors.AsType[diag.List](err); ok && !o.Explain {
		o.Explain = true // to say where what is wrong stands
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

// answers says whether what applies is an answer to the query.
func answers(t *tree.Tree, asked, q criteria.Criteria, kept []*tree.Overlay, excluded *exclusion, o Options) error {
	if o.Compat {
		return compatible(asked, kept)
	}
	return covered(t, q, kept, excluded)
}

// Tree is what the recipe was resolved from.
func (r *Result) Tree() *tree.Tree { return r.tree }

// Compat says that it was resolved as aicr does.
func (r *Result) Compat() bool { return r.compat }

// Component finds one of the recipe's components.
func (r *Result) Component(name string) (*model.ComponentRef, bool) {
	i := slices.IndexFunc(r.ComponentRefs, func(c model.ComponentRef) bool { return c.Name == name })
	if i < 0 {
		return nil, false
	}
	return &r.ComponentRefs[i], true
}
