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

// usual are the last keys of paths that charts commonly read without having a default.
var usual = []string{
	"nodeSelector", "affinity", "tolerations", "topologySpreadConstraints", "resources", "priorityClassName", "replicas", "replicaCount", "enabled",
}

// paths records the value paths that a recipe sets.
func (s *scheduling) paths(r *resolve.Result) {
	for i := range r.ComponentRefs {
		c := &r.ComponentRefs[i]
		if !c.Enabled() {
			continue
		}
		values, err := r.Values(c.Name)
		if err != nil {
			continue // reported elsewhere
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

// unknownPaths reports paths that footprints read but that have no default and are never set.
func (s *scheduling) unknownPaths() diag.List {
	if !s.pods {
		return nil
	}
	var out diag.List
	for _, f := range s.footprints.Footprints {
		if !s.set[f.Metadata.Name] {
			continue // no recipe has the component, so nothing sets values
		}
		for _, read := range f.Reads() {
			if !s.plausible(f, read.Path) {
				out = append(out, rule.ValuePath.At(read.Pos, "%s has no default and no recipe sets it", read.Path))
			}
		}
	}
	return out
}

// plausible reports whether a path exists or is likely to: its parent exists and its last key
// is a common one.
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
