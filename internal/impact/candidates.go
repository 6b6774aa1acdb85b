package impact

import (
	"cmp"
	"context"
	"slices"

	"github.com/firstlight/firstlight/internal/recipe/tree"
)

// candidates returns those of the recipes whose digests may differ between the two states. It
// is much faster than resolving them and may return too many: the digests decide about
// candidates.
//
// It never misses one. A recipe's inputs are a function of
//
//	(1) the overlays that apply: the root, those that its criteria match, and
//	    their bases; their order follows from their content
//	(2) the mixins that these name: such recipes are always candidates, see sound
//	(3) the registry entries of the components that (1) and (2) name
//	(4) the existence and content of the files that (1), (2) and (3) name, and of
//	    components/NAME/values.yaml, which is read if a values file is named
//	(5) the catalogue entries of the checks that (1) names
//	(6) the footprints of the components of (3)
//	(7) the node profiles that its service and accelerator select
//
// Resolving reads nothing else of a tree, and the files embedded in firstlight are the same for
// both states. The criteria come from the recipe's own overlay, which is part of (1). If (1) is
// the same set of files with the same content, both states name the same things. If all of
// those and (7) are unchanged as well, all arguments of the function are equal, and so is its
// result. A recipe is a candidate unless all of this is verified.
//
// A recipe that may fail to resolve is a candidate too, because broken recipes are reported.
func candidates(ctx context.Context, before, after *Loaded, files map[string]bool, recipes []string) (map[string]bool, error) {
	q := &quick{before: before, after: after, ids: map[identity]int{}, overlays: map[*tree.Overlay]int{}}
	q.findChanges(files)
	q.number()
	out := make([]bool, len(recipes))
	if err := forEach(ctx, len(recipes), func(i int) { out[i] = q.candidate(recipes[i]) }); err != nil {
		return nil, err
	}
	chosen := map[string]bool{}
	for i, name := range recipes {
		if out[i] {
			chosen[name] = true
		}
	}
	return chosen, nil
}

// quick compares two states without resolving recipes. It is immutable after construction.
type quick struct {
	before, after *Loaded
	different     changedNames
	// Two overlays have the same number if their name, file and content are equal.
	ids      map[identity]int
	overlays map[*tree.Overlay]int
	// same is true if all overlays are equal.
	same bool
	// affected holds the numbers of overlays that name something that changed or that are not
	// sound; recipes with them are candidates.
	affected []bool
}

// changedNames are the components, files and checks that differ.
type changedNames struct{ components, files, checks map[string]bool }

type identity struct{ name, file, digest string }

// findChanges finds all differences except those of overlays.
func (q *quick) findChanges(files map[string]bool) {
	a, b := q.before.Tree, q.after.Tree
	d := changedNames{components: map[string]bool{}, files: files, checks: map[string]bool{}}
	differ(d.components, a.Components, b.Components, func(c *tree.Component) string { return c.Digest })
	differ(d.components, q.before.assets.podDigests(), q.after.assets.podDigests(), func(s string) string { return s })
	differ(d.checks, a.Validators, b.Validators, func(v *tree.Validator) string { return v.File + " " + v.Digest })
	q.different = d
	for name, c := range b.Components { // a changed entry is already in the set
		if q.touches(ofEntry(c)) {
			d.components[name] = true
		}
	}
}

func differ[T any](into map[string]bool, a, b map[string]T, of func(T) string) {
	for name, x := range a {
		if y, both := b[name]; !both || of(x) != of(y) {
			into[name] = true
		}
	}
	for name := range b {
		if _, both := a[name]; !both {
			into[name] = true
		}
	}
}

func (q *quick) touches(n names) bool {
	d := q.different
	return slices.ContainsFunc(n.components, func(s string) bool { return d.components[s] }) ||
		slices.ContainsFunc(n.files, func(s string) bool { return d.files[s] }) ||
		slices.ContainsFunc(n.checks, func(s string) bool { return d.checks[s] })
}

func (q *quick) number() {
	for _, o := range all(q.before.Tree) {
		q.overlays[o] = q.id(o)
	}
	known, seen := len(q.ids), map[int]bool{}
	for _, o := range all(q.after.Tree) {
		id := q.id(o)
		q.overlays[o], seen[id] = id, true
	}
	q.same = len(q.ids) == known && len(seen) == known
	q.affected = make([]bool, len(q.ids))
	for o, id := range q.overlays {
		q.affected[id] = q.affected[id] || q.touches(ofOverlay(o))
	}
	sound := sound(q.after.Tree)
	for _, o := range all(q.after.Tree) {
		if !sound[o] {
			q.affected[q.overlays[o]] = true
		}
	}
}

func all(t *tree.Tree) []*tree.Overlay { return append([]*tree.Overlay{t.Base}, t.Overlays...) }

func (q *quick) id(o *tree.Overlay) int {
	key := identity{o.Name, o.File, o.Digest}
	id, known := q.ids[key]
	if !known {
		id = len(q.ids)
		q.ids[key] = id
	}
	return id
}

// candidate reports whether the digest of a recipe may have changed or the recipe may be
// broken.
func (q *quick) candidate(recipe string) bool {
	now, ok := q.after.Tree.Overlay(recipe)
	then, was := q.before.Tree.Overlay(recipe)
	if !ok || !was || q.overlays[now] != q.overlays[then] {
		return true
	}
	applied := q.applied(q.after.Tree, now)
	if slices.ContainsFunc(applied, func(id int) bool { return q.affected[id] }) {
		return true
	}
	if !q.same && !slices.Equal(applied, q.applied(q.before.Tree, then)) {
		return true
	}
	return !slices.Equal(q.before.assets.nodesOf(then.Criteria), q.after.assets.nodesOf(now.Criteria))
}

// applied returns the sorted numbers of the overlays of a recipe.
func (q *quick) applied(t *tree.Tree, recipe *tree.Overlay) []int {
	out := []int{q.overlays[t.Base]}
	for _, o := range t.Matching(recipe.Criteria) {
		for at := o; at != nil && at.Parent != nil; at = at.Parent {
			out = append(out, q.overlays[at])
		}
	}
	slices.SortFunc(out, cmp.Compare[int])
	return slices.Compact(out)
}
