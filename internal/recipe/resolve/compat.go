package resolve

import (
	"cmp"
	"maps"
	"slices"

	"github.com/firstlight/firstlight/internal/recipe/criteria"
	"github.com/firstlight/firstlight/internal/recipe/model"
	"github.com/firstlight/firstlight/internal/recipe/tree"
)

// What the existing implementation does, for whoever migrates from it. Besides
// what is here: criteria are not demanded to be covered, an excluded overlay
// excludes nothing that is based on it, disabled components are in the order,
// constraints and validation phases are replaced whole, and a self-managed
// service is any service. Where the existing order is left to chance, names decide.

// sortCompat sorts by the existing specificity, in which a dimension that an
// overlay does not write counts as if it were stated.
func sortCompat(overlays []*tree.Overlay) {
	slices.SortFunc(overlays, func(a, b *tree.Overlay) int {
		return cmp.Or(cmp.Compare(specificityCompat(a), specificityCompat(b)), cmp.Compare(a.Name, b.Name))
	})
}

func specificityCompat(o *tree.Overlay) int {
	n := 0
	c := *o.Spec.Criteria
	for _, d := range criteria.Dimensions() {
		if d == "nodes" {
			if c.Nodes != 0 {
				n++
			}
		} else if c.Get(d) != criteria.Any {
			n++
		}
	}
	return n
}

// componentCompat merges as the existing implementation does: lists that are
// stated replace what there is, but for manifests; values are merged at their
// topmost keys alone; cleanup is not taken back.
func (d *draft) componentCompat(have, c *model.ComponentRef, l layer, keys at) {
	path := d.at("components", c.Name)
	if c.Cleanup != nil && !*c.Cleanup || c.HealthCheckSkip != nil && !*c.HealthCheckSkip {
		once := *c
		once.Cleanup, once.HealthCheckSkip = onlyTrue(c.Cleanup), onlyTrue(c.HealthCheckSkip)
		c = &once
	}
	d.scalars(have, c, l, path, keys)
	haveLists, stated := lists(have), lists(c)
	for i, key := range listFields {
		if len(*stated[i]) > 0 && (key == "patches" || key == "dependencyRefs") {
			*haveLists[i] = nil
		}
		d.join(haveLists[i], *stated[i], l, path.with(key), keys.with(key))
	}
	if len(c.ExpectedResources) > 0 {
		have.ExpectedResources = slices.Clone(c.ExpectedResources)
	}
	if len(c.Overrides) > 0 {
		have.Overrides = maps.Clone(have.Overrides)
		if have.Overrides == nil {
			have.Overrides = map[string]any{}
		}
	}
	for key, value := range c.Overrides {
		have.Overrides[key] = clone(value)
		d.trace.setAll(path.with("values", key), l, keys.with("overrides", key), value)
	}
}

func onlyTrue(b *bool) *bool {
	if b != nil && *b {
		return b
	}
	return nil
}

// mergeCompat lays values over others as the existing implementation does: a
// null takes the value below it away, and with it is lost for the chart.
func mergeCompat(have, over map[string]any) {
	for key, value := range over {
		if value == nil {
			delete(have, key)
			continue
		}
		block, isBlock := value.(map[string]any)
		there, wasBlock := have[key].(map[string]any)
		if isBlock && wasBlock {
			mergeCompat(there, block)
			continue
		}
		have[key] = clone(value)
	}
}
