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

// This file implements the differences of aicr in the version criteria.LegacyVersion, for users
// who migrate from it. In addition, elsewhere: criteria need not be covered, excluding an
// overlay does not exclude those based on it, disabled components are part of the order, and
// constraints are replaced whole. Package tree implements the differences in reading. Where the
// order of aicr is random, names decide.

// compatible rejects what aicr rejects: unknown queries, and overlays without their bases.
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

// sortCompat sorts by aicr's specificity, which counts a dimension that an overlay omits as
// stated.
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

// componentCompat merges as aicr does: lists replace the previous ones, except manifests;
// values are merged at the top level only; cleanup cannot be unset. A new component is copied.
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
		if replaces { // duplicates are kept
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

// phaseCompat copies a phase.
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
