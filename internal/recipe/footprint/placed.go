package footprint

import (
	"slices"

	"github.com/firstlight/firstlight/internal/diag"
	"github.com/firstlight/firstlight/internal/recipe/model"
	"github.com/firstlight/firstlight/internal/recipe/query"
	"github.com/firstlight/firstlight/internal/recipe/resolve"
)

// PlacementPos is the position of the setting that places a workload's pods: the first of node
// selector, affinity and tolerations in the recipe's values, otherwise the footprint's entry.
func (s *Set) PlacementPos(r *resolve.Result, component, kind, name string) diag.Pos {
	f, known := s.Get(component)
	c, there := r.Component(component)
	if known && there {
		for _, path := range slices.Concat(f.placing(kind, name), registered(r, component)) {
			if at, stated := statedAt(r, c, path); stated {
				return at
			}
		}
	}
	return s.WorkloadPos(component, kind, name)
}

// placing returns the value paths of the rules that place a workload.
func (f *Footprint) placing(kind, name string) []query.Path {
	var out []query.Path
	for _, field := range []string{"nodeSelector", "affinity", "tolerations"} {
		for i := range f.workloads {
			if w := &f.workloads[i]; w.is(kind, name) {
				for _, q := range w.from {
					if q.field == field {
						out = append(out, q.paths...)
					}
				}
			}
		}
	}
	return out
}

// registered returns the value paths in the registry that place the pods of a component, for
// rendered footprints without rules.
func registered(r *resolve.Result, component string) []query.Path {
	entry, ok := r.Tree().Components[component]
	if !ok || entry.NodeScheduling == nil {
		return nil
	}
	var selectors, tolerations []string
	for _, paths := range []*model.SchedulingPaths{entry.NodeScheduling.System, entry.NodeScheduling.Accelerated} {
		if paths != nil {
			selectors, tolerations = append(selectors, paths.NodeSelectorPaths...), append(tolerations, paths.TolerationPaths...)
		}
	}
	var out []query.Path
	for _, text := range slices.Concat(selectors, tolerations) {
		if path, err := query.Parse(text); err == nil && len(path) > 0 {
			out = append(out, path)
		}
	}
	return out
}
