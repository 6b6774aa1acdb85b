package footprint

import (
	"slices"
	"strconv"

	"github.com/firstlight/firstlight/internal/diag"
	"github.com/firstlight/firstlight/internal/recipe/model"
	"github.com/firstlight/firstlight/internal/recipe/resolve"
	"github.com/firstlight/firstlight/internal/yamlstrict"
)

// valueAt is the position of a component's value: in the highest layer that sets it, or in the
// defaults of the footprint.
func valueAt(r *resolve.Result, c *model.ComponentRef, f *Footprint, keys []string) diag.Pos {
	if at, stated := statedAt(r, c, keys); stated {
		return at
	}
	if f == nil {
		return componentAt(r, c.Name)
	}
	return f.ValueAt(join([]string{"spec", "defaults"}, keys...)...)
}

// statedAt is the position in the highest layer of the recipe that sets a value; false if only
// the chart sets it.
func statedAt(r *resolve.Result, c *model.ComponentRef, keys []string) (diag.Pos, bool) {
	for _, o := range slices.Backward(r.Applied) {
		if i := refOf(o.Spec.ComponentRefs, c.Name); i >= 0 && sets(o.Spec.ComponentRefs[i].Overrides, keys) {
			return r.Tree().ValuePos(o.File, join([]string{"spec", "componentRefs", strconv.Itoa(i), "overrides"}, keys...)...), true
		}
	}
	for _, name := range slices.Backward(r.Metadata.AppliedMixins) {
		m, ok := r.Tree().Mixins[name]
		if !ok {
			continue
		}
		if i := refOf(m.Spec.ComponentRefs, c.Name); i >= 0 && sets(m.Spec.ComponentRefs[i].Overrides, keys) {
			return r.Tree().ValuePos(m.File, join([]string{"spec", "componentRefs", strconv.Itoa(i), "overrides"}, keys...)...), true
		}
	}
	for _, file := range slices.Backward(r.Tree().ValuesFiles(c)) {
		if values, problems := r.Tree().Values(file); problems.Err() == nil && sets(values.Values, keys) {
			return r.Tree().ValuePos(file, keys...), true
		}
	}
	return diag.Pos{}, false
}

// sets reports whether the path, or a scalar at a prefix of it, is set.
func sets(v map[string]any, keys []string) bool {
	if len(v) == 0 {
		return false
	}
	var at any = v
	for _, key := range keys {
		switch x := at.(type) {
		case map[string]any:
			next, ok := x[key]
			if !ok {
				return false
			}
			at = next
		case []any:
			i, err := strconv.Atoi(key)
			if err != nil || i < 0 || i >= len(x) {
				return true // a list replaces the whole value
			}
			at = x[i]
		default:
			return true
		}
	}
	return true
}

func refOf(refs []model.ComponentRef, name string) int {
	return slices.IndexFunc(refs, func(c model.ComponentRef) bool { return c.Name == name })
}

// componentAt is the position of the component in the lowest layer.
func componentAt(r *resolve.Result, name string) diag.Pos {
	for _, o := range r.Applied {
		if i := refOf(o.Spec.ComponentRefs, name); i >= 0 {
			return r.Tree().ValuePos(o.File, "spec", "componentRefs", strconv.Itoa(i), "name")
		}
	}
	for _, mixin := range r.Metadata.AppliedMixins {
		if m, ok := r.Tree().Mixins[mixin]; ok {
			if i := refOf(m.Spec.ComponentRefs, name); i >= 0 {
				return r.Tree().ValuePos(m.File, "spec", "componentRefs", strconv.Itoa(i), "name")
			}
		}
	}
	return recipeAt(r)
}

// recipeAt is the position of the recipe's overlay.
func recipeAt(r *resolve.Result) diag.Pos {
	if n := len(r.Applied); n > 0 {
		return r.Tree().ValuePos(r.Applied[n-1].File, "metadata", "name")
	}
	return diag.Pos{File: r.Tree().Label}
}

// versionAt is the position of the version in an overlay; false if it comes from the registry.
func versionAt(r *resolve.Result, c *model.ComponentRef) (diag.Pos, bool) {
	for _, o := range slices.Backward(r.Applied) {
		i := refOf(o.Spec.ComponentRefs, c.Name)
		if i < 0 {
			continue
		}
		ref := &o.Spec.ComponentRefs[i]
		for key, value := range map[string]string{"version": ref.Version, "tag": ref.Tag} {
			if value != "" {
				return r.Tree().ValuePos(o.File, "spec", "componentRefs", strconv.Itoa(i), key), true
			}
		}
	}
	return diag.Pos{}, false
}

func docAt(d *yamlstrict.Doc, name string, keys ...string) position {
	return position{name: name, pos: func(more ...string) diag.Pos { return d.ValueAt(join(keys, more...)...) }}
}
