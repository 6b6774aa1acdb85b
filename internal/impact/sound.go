package impact

import "github.com/firstlight/firstlight/internal/recipe/tree"

// sound returns the overlays for which a recipe made of sound overlays only is certain to
// resolve. There are four ways to fail with a recipe's own criteria:
//
//   - conflicts of mixins or profiles: an overlay with either is not sound;
//   - a missing dependency: an overlay is sound if each of its dependencies is a
//     component of the root, of itself or of one of its bases, which every recipe
//     with the overlay has;
//   - a dependency cycle: if the dependencies of all overlays of the tree together
//     have no cycle, no recipe has one. Otherwise no overlay is sound.
//
// The values of the criteria come from the recipe's own overlay, so they are covered.
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

// closed reports whether the overlay's dependencies are in every recipe that has the overlay.
func closed(o *tree.Overlay, own map[*tree.Overlay]map[string]bool) bool {
	for i := range o.Spec.ComponentRefs {
		for _, dep := range o.Spec.ComponentRefs[i].DependencyRefs {
			found := false
			for at := o; at != nil && !found; at = at.Parent { // the root is last
				found = own[at][dep]
			}
			if !found {
				return false
			}
		}
	}
	return true
}

// circular reports whether the dependencies of all overlays together have a cycle.
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
