package resolve

import (
	"slices"

	"github.com/firstlight/firstlight/internal/diag"
	"github.com/firstlight/firstlight/internal/recipe/model"
	"github.com/firstlight/firstlight/internal/recipe/query"
	"github.com/firstlight/firstlight/internal/recipe/rule"
	"github.com/firstlight/firstlight/internal/recipe/tree"
)

// mixins merges the mixins that the overlays name, in that order. A mixin may add values but
// not change them.
func (d *draft) mixins() error {
	var problems diag.List
	for _, name := range d.mixinNames {
		m, ok := d.tree.Mixins[name]
		if !ok {
			continue // loading rejects unknown mixins
		}
		problems = append(problems, d.mixin(m)...)
		d.mixedIn = append(d.mixedIn, name)
	}
	return problems.Sort().Err()
}

func (d *draft) mixin(m *tree.Mixin) diag.List {
	var problems diag.List
	l := layer{name: "mixin " + m.Metadata.Name, file: m.File}
	for i := range m.Spec.Constraints {
		c := &m.Spec.Constraints[i]
		keys := at{"spec", "constraints", index(i)}
		if have := d.constraints[c.Name]; have != nil && *have != *c {
			problems = append(problems, d.conflict(m, keys.with("value"), "constraint %s", c.Name))
			continue
		}
		d.constraint(d.constraints, c, l, at{"constraints"}, keys)
	}
	for i := range m.Spec.ComponentRefs {
		c := &m.Spec.ComponentRefs[i]
		keys := at{"spec", "componentRefs", index(i)}
		if have := d.components[c.Name]; have != nil {
			problems = append(problems, d.mixinConflicts(m, have, c, keys)...)
		}
		d.component(c, l, keys)
	}
	return problems
}

func (d *draft) conflict(m *tree.Mixin, keys at, format string, args ...any) diag.Problem {
	p := rule.MixinConflict.At(d.tree.ValuePos(m.File, keys...), format, args...)
	p.Message = "mixin " + m.Metadata.Name + " changes values that the recipe already sets: " + p.Message
	return p
}

// mixinConflicts returns the fields of an existing component that the mixin must not set: all
// except the namespace, joined lists, and values that the registry allows.
func (d *draft) mixinConflicts(m *tree.Mixin, have, c *model.ComponentRef, keys at) diag.List {
	var problems diag.List
	haveTexts, stated := texts(have), texts(c)
	for i, key := range textFields {
		if s := *stated[i]; key != "namespace" && s != "" && s != *haveTexts[i] {
			problems = append(problems, d.conflict(m, keys.with(key), "%s of component %s", key, c.Name))
		}
	}
	if len(c.Patches) > 0 {
		problems = append(problems, d.conflict(m, keys.with("patches"), "patches of component %s", c.Name))
	}
	var allowed []string
	if entry, ok := d.tree.Components[c.Name]; ok {
		allowed = entry.MixinSafeOverridePaths
	}
	for _, leaf := range query.Flatten(c.Overrides, nil) {
		there, err := query.Select(have.Overrides, leaf.Path)
		if err == nil && same(there, leaf.Value) {
			continue
		}
		path := leaf.Path.String()
		if err == nil || !slices.Contains(allowed, path) {
			problems = append(problems, d.conflict(m, append(keys.with("overrides"), leaf.Path...), "value %s of component %s", path, c.Name).
				With("set it in an overlay, or list it in mixinSafeOverridePaths of %s in registry.yaml", c.Name))
		}
	}
	return problems
}
