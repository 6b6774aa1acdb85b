package impact

import (
	"cmp"
	"context"
	"slices"

	"github.com/firstlight/firstlight/internal/recipe/tree"
)

// candidates are the recipes, of those that both states have, whose digests may
// differ. It costs a fraction of what resolving them costs, and errs on the side of
// too many: for the candidates the digests decide.
//
// Why it leaves none out. A recipe's inputs are a function of
//
//	(1) the overlays that apply: the root, those that its criteria match, and what
//	    these are based on; their order follows from what they hold
//	(2) the mixins that these name: such recipes are always looked at, see sound
//	(3) the registry's entries of the components that (1) and (2) name
//	(4) the files that (1), (2) and (3) name, components/NAME/values.yaml, which is
//	    read where a values file is named, among them: whether they are there, and
//	    what they hold
//	(5) the catalogue's entries of the checks that (1) names
//	(6) the footprints of the components of (3)
//	(7) the profiles that its service and its accelerator choose
//
// for resolving reads nothing else of a tree, and what is shipped with firstlight is
// the same on both sides. The criteria are those of the recipe's own overlay, which is
// among (1). So when (1) is the same set of files with the same content, both sides
// name the same things; and when of what they name nothing is different, and (7) is
// the same, then every argument of the function is equal, and its result is. Below,
// a recipe is a candidate unless all of that was seen to hold.
//
// A recipe that may fail to resolve is one as well: of those that do, it is to be told.
func candidates(ctx context.Context, before, after *Loaded, files map[string]bool, recipes []string) (map[string]bool, error) {
	q := &quick{before: before, after: after, ids: map[identity]int{}, overlays: map[*tree.Overlay]int{}}
	q.changed(files)
	q.number()
	out := make([]bool, len(recipes))
	if err := sideBySide(ctx, len(recipes), func(i int) { out[i] = q.candidate(recipes[i]) }); err != nil {
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

// quick compares two states without resolving. Once it is made it is only read.
type quick struct {
	before, after *Loaded
	different     things
	// overlays have numbers: two of the two states have the same one when they are
	// the same file of the same name with the same content.
	ids      map[identity]int
	overlays map[*tree.Overlay]int
	// same says that all overlays are.
	same bool
	// look are the numbers of overlays that name something that is different, or that
	// are not sound: their recipes are candidates.
	look []bool
}

// things are the things that are not the same in both states.
type things struct{ components, files, checks map[string]bool }

type identity struct{ name, file, digest string }

// changed finds what is different besides overlays.
func (q *quick) changed(files map[string]bool) {
	a, b := q.before.Tree, q.after.Tree
	d := things{components: map[string]bool{}, files: files, checks: map[string]bool{}}
	differ(d.components, a.Components, b.Components, func(c *tree.Component) string { return c.Digest })
	differ(d.components, q.before.beside.pods(), q.after.beside.pods(), func(s string) string { return s })
	differ(d.checks, a.Validators, b.Validators, func(v *tree.Validator) string { return v.File + " " + v.Digest })
	q.different = d
	for name, c := range b.Components { // an entry that is not the same is there already
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

// touches says whether something that is named is different.
func (q *quick) touches(n names) bool {
	d := q.different
	return slices.ContainsFunc(n.components, func(s string) bool { return d.components[s] }) ||
		slices.ContainsFunc(n.files, func(s string) bool { return d.files[s] }) ||
		slices.ContainsFunc(n.checks, func(s string) bool { return d.checks[s] })
}

// number numbers the overlays of both states.
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
	q.look = make([]bool, len(q.ids))
	for o, id := range q.overlays {
		q.look[id] = q.look[id] || q.touches(ofOverlay(o))
	}
	sound := sound(q.after.Tree)
	for _, o := range all(q.after.Tree) {
		if !sound[o] {
			q.look[q.overlays[o]] = true
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

// candidate says whether the digest of a recipe may have changed, or it may be broken.
func (q *quick) candidate(recipe string) bool {
	now, ok := q.after.Tree.Overlay(recipe)
	then, was := q.before.Tree.Overlay(recipe)
	if !ok || !was || q.overlays[now] != q.overlays[then] {
		return true
	}
	applied := q.applied(q.after.Tree, now)
	if slices.ContainsFunc(applied, func(id int) bool { return q.look[id] }) {
		return true
	}
	if !q.same && !slices.Equal(applied, q.applied(q.before.Tree, then)) {
		return true
	}
	return !slices.Equal(q.before.beside.nodesOf(then.Criteria), q.after.beside.nodesOf(now.Criteria))
}

// applied are the numbers of the overlays that a recipe is made of, in order.
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
