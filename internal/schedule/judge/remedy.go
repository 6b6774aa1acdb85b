package judge

import (
	"fmt"
	"slices"
	"strings"

	"github.com/firstlight/firstlight/internal/recipe/footprint"
	"github.com/firstlight/firstlight/internal/schedule/snapshot"
)

// setRemedy names the place where a workload's selector or tolerations are set: the value
// paths of its chart from the registry, or else the footprint.
func (p *plan) setRemedy(e expected, what string) string {
	if e.Component == snapshot.OwnerProbe {
		return "accelerators.yaml defines its pods"
	}
	advice := p.scenario.Advice[e.Component]
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
	paths = nearestPaths(paths, e.Name)
	if len(paths) == 0 {
		return fmt.Sprintf("the registry names no value of %s for its %s; %s lists the chart's own", e.Component, what, fileOr(advice.Footprint))
	}
	return fmt.Sprintf("set %s of %s; %s lists the chart's own", strings.Join(paths, " or "), e.Component, fileOr(advice.Footprint))
}

func fileOr(file string) string {
	if file == "" {
		return "its footprint"
	}
	return file
}

// nearestPaths keeps the paths whose first element is in the workload's name, longest
// first: worker.tolerations for node-feature-discovery-worker. Without a match it keeps
// the top-level paths, else all.
func nearestPaths(paths []string, name string) []string {
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
