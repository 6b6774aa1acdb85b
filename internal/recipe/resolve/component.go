package resolve

import (
	"maps"
	"slices"

	"github.com/firstlight/firstlight/internal/recipe/model"
)

// textFields and listFields are the fields of a component with a common merge rule.
var (
	textFields = [...]string{"namespace", "type", "chart", "source", "version", "tag", "path", "valuesFile", "healthCheckAsserts"}
	listFields = [...]string{"patches", "manifestFiles", "preManifestFiles", "dependencyRefs"}
)

func texts(c *model.ComponentRef) [9]*string {
	return [9]*string{&c.Namespace, &c.Type, &c.Chart, &c.Source, &c.Version, &c.Tag, &c.Path, &c.ValuesFile, &c.HealthCheckAsserts}
}

func lists(c *model.ComponentRef) [4]*[]string {
	return [4]*[]string{&c.Patches, &c.ManifestFiles, &c.PreManifestFiles, &c.DependencyRefs}
}

// component merges a layer's component: strings replace the previous ones, lists of names are
// joined, values are merged by key.
func (d *draft) component(c *model.ComponentRef, l layer, keys at) {
	have, known := d.components[c.Name]
	if !known {
		have = &model.ComponentRef{Name: c.Name}
		d.components[c.Name] = have
	}
	if d.trace != nil {
		d.trace.set(at{"components", c.Name}, l, keys.with("name"), true)
	}
	if d.compat {
		d.componentCompat(have, c, !known, l, keys)
		return
	}
	path := d.at("components", c.Name)
	d.scalars(have, c, l, path, keys)
	haveLists, stated := lists(have), lists(c)
	for i, key := range listFields {
		d.join(haveLists[i], *stated[i], l, path.with(key), keys.with(key))
	}
	for i, r := range c.ExpectedResources {
		if !slices.Contains(have.ExpectedResources, r) {
			have.ExpectedResources = append(have.ExpectedResources, r)
			d.trace.set(path.with("expectedResources", r.Kind+" "+r.Namespace+"/"+r.Name), l, keys.with("expectedResources", index(i)), true)
		}
	}
	if len(c.Overrides) > 0 && have.Overrides == nil {
		have.Overrides = map[string]any{}
	}
	d.trace.mergeValues(have.Overrides, c.Overrides, l, path.with("values"), keys.with("overrides"))
}

func (d *draft) scalars(have, c *model.ComponentRef, l layer, path, keys at) {
	haveTexts, stated := texts(have), texts(c)
	for i, key := range textFields {
		d.text(haveTexts[i], *stated[i], l, path.with(key), keys.with(key))
	}
	d.truth(&have.Cleanup, c.Cleanup, l, path.with("cleanup"), keys.with("cleanup"))
	d.truth(&have.HealthCheckSkip, c.HealthCheckSkip, l, path.with("healthCheckSkip"), keys.with("healthCheckSkip"))
}

func (d *draft) truth(have **bool, stated *bool, l layer, path, keys at) {
	if stated != nil {
		value := *stated
		*have = &value
		d.trace.set(path, l, keys, value)
	}
}

// join appends the entries that the list does not have.
func (d *draft) join(have *[]string, stated []string, l layer, path, keys at) {
	for i, s := range stated {
		if !slices.Contains(*have, s) {
			*have = append(*have, s)
			d.trace.set(path.with(s), l, keys.with(index(i)), true)
		}
	}
}

// mergeValues merges mappings recursively; other values are replaced. A null is kept, because
// Helm then removes a chart's default.
func (t trace) mergeValues(have, stated map[string]any, l layer, path, keys at) {
	for key, value := range stated {
		block, isBlock := value.(map[string]any)
		there, wasBlock := have[key].(map[string]any)
		if isBlock && wasBlock {
			t.mergeValues(there, block, l, path.with(key), keys.with(key))
			continue
		}
		have[key] = clone(value)
		t.setAll(path.with(key), l, keys.with(key), value)
	}
}

// clone returns a deep copy of a plain value.
func clone(v any) any {
	switch x := v.(type) {
	case map[string]any:
		return cloneMap(x)
	case []any:
		out := make([]any, len(x))
		for i := range x {
			out[i] = clone(x[i])
		}
		return out
	default:
		return v
	}
}

func cloneMap(m map[string]any) map[string]any {
	out := maps.Clone(m)
	for key, value := range out {
		out[key] = clone(value)
	}
	return out
}
