package resolve

import (
	"cmp"
	"maps"
	"slices"

	"github.com/firstlight/firstlight/internal/diag"
	"github.com/firstlight/firstlight/internal/recipe/criteria"
	"github.com/firstlight/firstlight/internal/recipe/model"
	"github.com/firstlight/firstlight/internal/recipe/tree"
)

// What aicr does, in the version criteria.LegacyVersion, for those who migrate from
// it. Besides what is here: criteria are not demanded to be covered, an excluded
// overlay excludes nothing that is based on it, disabled components are in the
// order, and constraints are replaced whole. How it reads a tree is in package tree.
// Where aicr leaves the order to chance, names decide.

// compatible refuses what aicr refuses: a query that it does not know, and overlays
// without their bases.
func compatible(query criteria.Criteria, kept []*tree.Overlay) error {
	if err := query.CheckLegacy(); err != nil {
		return err
	}
	var problems diag.List
	for _, m := range kept {
		for _, o := range m.Chain() {
			if o.Broken != nil {
				problems = append(problems, *o.Broken)
			}
		}
	}
	return problems.Sort().Err()
}

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

// componentCompat merges as aicr does: lists that are stated replace what there is,
// but for manifests; values are merged at their topmost keys alone; cleanup is not
// taken back. A component that is new is taken as it is written.
func (d *draft) componentCompat(have, c *model.ComponentRef, fresh bool, l layer, keys at) {
	path := d.at("components", c.Name)
	if c.Cleanup != nil && !*c.Cleanup || c.HealthCheckSkip != nil && !*c.HealthCheckSkip {
		once := *c
		once.Cleanup, once.HealthCheckSkip = onlyTrue(c.Cleanup), onlyTrue(c.HealthCheckSkip)
		c = &once
	}
	d.scalars(have, c, l, path, keys)
	haveLists, stated := lists(have), lists(c)
	for i, key := range listFields {
		replaces := len(*stated[i]) > 0 && (fresh || key == "patches" || key == "dependencyRefs")
		if replaces {
			*haveLists[i] = nil
		}
		d.join(haveLists[i], *stated[i], l, path.with(key), keys.with(key))
		if replaces { // what is stated twice stays
			*haveLists[i] = slices.Clone(*stated[i])
		}
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

// phaseCompat takes a phase as it is written.
func (d *draft) phaseCompat(have, stated *model.Phase, l layer, path, keys at) {
	d.phase(have, stated, l, path, keys)
	have.Checks, have.Constraints = slices.Clone(stated.Checks), slices.Clone(stated.Constraints)
	if have.NodeSelection != nil {
		have.NodeSelection.ExcludeNodes = slices.Clone(stated.NodeSelection.ExcludeNodes)
	}
}

func onlyTrue(b *bool) *bool {
	if b != nil && *b {
		return b
	}
	return nil
}
