package judge

import (
	"fmt"
	"slices"
	"strings"

	"github.com/firstlight/firstlight/internal/recipe/footprint"
	"github.com/firstlight/firstlight/internal/schedule/snapshot"
)

// set says where what of a workload is set: the value paths that its chart reads,
// as the registry has them, or else the footprint.
func (p *plan) set(e expected, what string) string {
	if e.Component == snapshot.OwnerProbe {
		return "accelerators.yaml says what its pods carry"
	}
	advice := p.cell.Advice[e.Component]
	byClass := advice.Selectors
	if what == "tolerations" {
		byClass = advice.Tolerations
	}
	var paths []string
	for _, class := range []footprint.Class{footprint.System, footprint.Accelerated} {
		if e.Class == class || e.Class == footprint.Any {
			paths = append(paths, byClass[class]...)
		}
	}
	paths = near(paths, e.Name)
	if len(paths) == 0 {
		return fmt.Sprintf("the registry names no value of %s for its %s; %s says what the chart has", e.Component, what, orSome(advice.Footprint))
	}
	return fmt.Sprintf("set %s of %s; %s says what the chart itself has", strings.Join(paths, " or "), e.Component, orSome(advice.Footprint))
}

func orSome(file string) string {
	if file == "" {
		return "its footprint"
	}
	return file
}

// near keeps the paths whose first part is in the workload's name, the longest such
// part: worker.tolerations of node-feature-discovery-worker. Where none is, it keeps
// those that are of the chart's main pod, and otherwise all.
func near(paths []string, name string) []string {
	paths = slices.Compact(slices.Sorted(slices.Values(paths)))
	plain := func(s string) string { return strings.ToLower(strings.ReplaceAll(s, "-", "")) }
	var named, main []string
	longest := 0
	for _, path := range paths {
		first, _, deeper := strings.Cut(path, ".")
		switch part := plain(first); {
		case !deeper:
			main = append(main, path)
		case !strings.Contains(plain(name), part) || len(part) < longest:
		case len(part) > longest:
			named, longest = []string{path}, len(part)
		default:
			named = append(named, path)
		}
	}
	switch {
	case len(named) > 0:
		return named
	case len(main) > 0:
		return main
	default:
		return paths
	}
}
