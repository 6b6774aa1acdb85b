package impact

import "github.com/firstlight/firstlight/internal/recipe/tree"

// sound says of which overlays a recipe that is made of nothing else surely resolves,
// without resolving it. Of a recipe's own criteria there are four ways to fail:
//
//   - mixins that set what is set already, and profiles that do not fit: an overlay
//     with one or the other is not sound;
//   - a dependency that the recipe does not have: an overlay is sound when each of its
//     dependencies is a component of the root, of itself or of what it is based on,
//     for these are in every recipe that it is in;
//   - dependencies that go in a circle: where those of all overlays of the tree, taken
//     together, have none, those of no recipe have one. Otherwise none is sound.
//
// What its criteria state is carried by its own overlay, so it is always covered.
func sound(t *tree.Tree) map[*tree.Overlay]bool {
	out := make(map[*tree.Overlay]bool, len(t.Overlays)+1)
	if circular(t) {
		return out
	}
	own := map[*tree.Overlay]map[string]bool{}
	for _, o := range all(t) {
		own[o] = map[string]bool{}
		for i := range o.Spec.ComponentRefs {
			own[o][o.Spec.ComponentRefs[i].Name] = true
		}
	}
	for _, o := range all(t) {
		out[o] = len(o.Spec.Mixins) == 0 && o.Spec.Profile == nil && closed(o, own)
	}
	return out
}

// closed says that the dependencies of an overlay are there whenever it is.
func closed(o *tree.Overlay, own map[*tree.Overlay]map[string]bool) bool {
	for i := range o.Spec.ComponentRefs {
		for _, dep := range o.Spec.ComponentRefs[i].DependencyRefs {
			found := false
			for at := o; at != nil && !found; at = at.Parent { // the root is the last
				found = own[at][dep]
			}
			if !found {
				return false
			}
		}
	}
	return true
}

// circular says whether the dependencies of all overlays together have a circle.
func circular(t *tree.Tree) bool {
	needs := map[string]map[string]bool{}
	for _, o := range all(t) {
		for i := range o.Spec.ComponentRefs {
			c := &o.Spec.ComponentRefs[i]
			for _, dep := range c.DependencyRefs {
				if needs[c.Name] == nil {
					needs[c.Name] = map[string]bool{}
				}
				needs[c.Name][dep] = true
			}
		}
	}
	const under, done = 1, 2
	state := map[string]int{}
	var walk func(name string) bool
	walk = func(name string) bool {
		switch state[name] {
		case under:
			return true
		case done:
			return false
		}
		state[name] = under
		for dep := range needs[name] {
			if walk(dep) {
				return true
			}
		}
		state[name] = done
		return false
	}
	for name := range needs {
		if walk(name) {
			return true
		}
	}
	return false
}
