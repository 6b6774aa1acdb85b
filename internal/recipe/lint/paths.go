package lint

import (
	"slices"

	"github.com/firstlight/firstlight/internal/diag"
	"github.com/firstlight/firstlight/internal/recipe/footprint"
	"github.com/firstlight/firstlight/internal/recipe/model"
	"github.com/firstlight/firstlight/internal/recipe/query"
	"github.com/firstlight/firstlight/internal/recipe/resolve"
	"github.com/firstlight/firstlight/internal/recipe/rule"
)

// usual are the last keys of paths that charts read whether or not they have a
// default for them.
var usual = []string{
	"nodeSelector", "affinity", "tolerations", "topologySpreadConstraints", "resources", "priorityClassName", "replicas", "replicaCount", "enabled",
}

// paths keeps which value paths a recipe sets.
func (s *scheduling) paths(r *resolve.Result) {
	for i := range r.ComponentRefs {
		c := &r.ComponentRefs[i]
		if !c.Enabled() {
			continue
		}
		values, err := r.Values(c.Name)
		if err != nil {
			continue // told where they are read
		}
		set := []string{c.Name}
		for _, leaf := range query.Flatten(values, nil) {
			for n := range leaf.Path {
				set = append(set, c.Name+" "+leaf.Path[:n+1].String())
			}
		}
		s.mu.Lock()
		for _, path := range set {
			s.set[path] = true
		}
		s.mu.Unlock()
	}
}

// unknownPaths finds paths that footprints read, and that nobody has or sets.
func (s *scheduling) unknownPaths() diag.List {
	if !s.pods {
		return nil
	}
	var out diag.List
	for _, f := range s.footprints.Footprints {
		if !s.set[f.Metadata.Name] {
			continue // no recipe has the component: nobody sets anything
		}
		for _, read := range f.Reads() {
			if !s.plausible(f, read.Path) {
				out = append(out, rule.ValuePath.At(read.Pos, "neither the defaults nor any recipe have %s", read.Path))
			}
		}
	}
	return out
}

// plausible says whether a path is there, or could be: its block is there, and its
// last key is one that charts have.
func (s *scheduling) plausible(f *footprint.Footprint, path query.Path) bool {
	if s.has(f, path) {
		return true
	}
	parent := path[:len(path)-1]
	return slices.Contains(usual, path[len(path)-1]) && (len(parent) == 0 || s.has(f, parent))
}

func (s *scheduling) has(f *footprint.Footprint, path query.Path) bool {
	if s.set[f.Metadata.Name+" "+path.String()] || slices.Contains(model.Gates(), path.String()) {
		return true
	}
	var at any = f.Spec.Defaults
	for _, key := range path {
		block, ok := at.(map[string]any)
		if !ok {
			return false
		}
		if at, ok = block[key]; !ok {
			return false
		}
	}
	return true
}
