package lint

import (
	"slices"
	"strconv"

	"github.com/firstlight/firstlight/internal/diag"
	"github.com/firstlight/firstlight/internal/recipe/footprint"
	"github.com/firstlight/firstlight/internal/recipe/model"
	"github.com/firstlight/firstlight/internal/recipe/resolve"
	"github.com/firstlight/firstlight/internal/recipe/rule"
)

// expected reports workloads that a recipe expects but no component schedules. It skips
// components with errors.
func expected(r *resolve.Result, components []footprint.Component, failed map[string]bool) diag.List {
	var there []string
	for _, c := range components {
		for i := range c.Workloads {
			w := &c.Workloads[i]
			there = append(there, w.Kind+" "+w.Namespace+"/"+w.Name)
		}
	}
	var out diag.List
	for i := range r.ComponentRefs {
		c := &r.ComponentRefs[i]
		for _, e := range c.ExpectedResources {
			switch e.Kind {
			case "Deployment", "DaemonSet", "StatefulSet":
			default:
				continue
			}
			key := e.Kind + " " + e.Namespace + "/" + e.Name
			if !c.Enabled() || failed[c.Name] || slices.Contains(there, key) {
				continue
			}
			p := rule.ExpectedResource.At(expectedAt(r, c.Name, e), "%s expects %s, which no component schedules", c.Name, key)
			if near := diag.Nearest(key, there); near != "" {
				p = p.With("did you mean %s?", near)
			}
			out = append(out, p)
		}
	}
	return out
}

// expectedAt is the position of the expectation.
func expectedAt(r *resolve.Result, component string, e model.ExpectedResource) diag.Pos {
	for _, o := range slices.Backward(r.Applied) {
		for i := range o.Spec.ComponentRefs {
			c := &o.Spec.ComponentRefs[i]
			if j := slices.Index(c.ExpectedResources, e); c.Name == component && j >= 0 {
				return r.Tree().ValuePos(o.File, "spec", "componentRefs", strconv.Itoa(i), "expectedResources", strconv.Itoa(j), "name")
			}
		}
	}
	return r.Where("components", component)
}
