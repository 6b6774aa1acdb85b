package resolve

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/firstlight/firstlight/internal/diag"
	"github.com/firstlight/firstlight/internal/recipe/model"
	"github.com/firstlight/firstlight/internal/recipe/rule"
)

// order is the deployment order: each component comes after its dependencies, otherwise sorted
// by name. It excludes disabled components.
func (d *draft) order() ([]string, diag.List, error) {
	needs, warnings, problems := d.needs()
	if err := problems.Sort().Err(); err != nil {
		return nil, nil, err
	}
	order := make([]string, 0, len(needs))
	for len(needs) > 0 {
		var ready []string
		for name, deps := range needs {
			if len(deps) == 0 {
				ready = append(ready, name)
			}
		}
		if len(ready) == 0 {
			return nil, nil, diag.List{d.circle(needs)}
		}
		first := slices.Min(ready)
		order = append(order, first)
		delete(needs, first)
		for _, deps := range needs {
			delete(deps, first)
		}
	}
	return order, warnings.Sort(), nil
}

// needs returns the dependencies of each deployed component.
func (d *draft) needs() (needs map[string]map[string]bool, warnings, problems diag.List) {
	needs = map[string]map[string]bool{}
	for name, c := range d.components {
		if !c.Enabled() && !d.compat {
			continue
		}
		needs[name] = map[string]bool{}
		for _, dep := range c.DependencyRefs {
			other, ok := d.components[dep]
			switch {
			case !ok:
				problems = append(problems, d.unknown(c, dep))
			case !other.Enabled() && !d.compat:
				warnings = append(warnings, rule.DisabledDependency.At(d.pos("components", name, "dependencyRefs", dep),
					"%s depends on %s, which the recipe disables: it is deployed without the dependency", name, dep))
			default:
				needs[name][dep] = true
			}
		}
	}
	return needs, warnings, problems
}

func (d *draft) unknown(c *model.ComponentRef, dep string) diag.Problem {
	p := rule.UnknownDependency.At(d.pos("components", c.Name, "dependencyRefs", dep),
		"%s depends on %s, which is not in the recipe", c.Name, dep)
	if near := diag.Nearest(dep, slices.Collect(maps.Keys(d.components))); near != "" {
		p = p.With("did you mean %s?", near)
	}
	return p
}

// circle returns the components of a cycle, which must exist in needs.
func (d *draft) circle(needs map[string]map[string]bool) diag.Problem {
	seen := map[string]int{}
	var walk []string
	at := slices.Min(slices.Collect(maps.Keys(needs)))
	for {
		if i, again := seen[at]; again {
			walk = walk[i:]
			break
		}
		seen[at] = len(walk)
		walk = append(walk, at)
		at = slices.Min(slices.Collect(maps.Keys(needs[at])))
	}
	i := slices.Index(walk, slices.Min(walk))
	walk = append(append(slices.Clone(walk[i:]), walk[:i]...), walk[i])
	return rule.DependencyCycle.At(d.pos("components", walk[0], "dependencyRefs", walk[1]),
		"%s", fmt.Sprintf("dependency cycle: %s", strings.Join(walk, " -> ")))
}
