package resolve

import (
	"bytes"
	"encoding/json"

	"github.com/firstlight/firstlight/internal/recipe/digest"
	"github.com/firstlight/firstlight/internal/recipe/model"
	"github.com/firstlight/firstlight/internal/recipe/query"
)

// Document returns the complete recipe as plain values: criteria, overlays, constraints,
// components (with their Helm values), deploymentOrder, validation. Selectors and Diff work on
// it.
func (r *Result) Document() (map[string]any, error) {
	components := map[string]any{}
	for i := range r.ComponentRefs {
		c := &r.ComponentRefs[i]
		doc, err := r.component(c)
		if err != nil {
			return nil, err
		}
		components[c.Name] = doc
	}
	doc := map[string]any{
		"criteria":        plainMap(r.Criteria),
		"overlays":        plain(r.Metadata.AppliedOverlays),
		"constraints":     constraints(r.Constraints),
		"components":      components,
		"deploymentOrder": plain(r.DeploymentOrder),
	}
	if len(r.Metadata.AppliedMixins) > 0 {
		doc["mixins"] = plain(r.Metadata.AppliedMixins)
	}
	if p := r.Metadata.SelectedProfile; p != nil {
		doc["profile"] = plainMap(p)
	}
	if r.Validation != nil {
		phases := map[string]any{}
		for _, name := range model.PhaseNames() {
			if phase := *r.Validation.Phase(name); phase != nil {
				p := plainMap(phase)
				if len(phase.Constraints) > 0 {
					p["constraints"] = constraints(phase.Constraints)
				}
				phases[name] = p
			}
		}
		doc["validation"] = phases
	}
	return doc, nil
}

func (r *Result) component(c *model.ComponentRef) (map[string]any, error) {
	if !r.Deploys(c) {
		return map[string]any{"enabled": false}, nil // other fields of a disabled component have no effect
	}
	values, err := r.Values(c.Name)
	if err != nil {
		return nil, err
	}
	doc := plainMap(c)
	delete(doc, "name")
	delete(doc, "overrides")
	if len(c.ExpectedResources) > 0 {
		expected := []any{}
		for _, e := range c.ExpectedResources {
			expected = append(expected, expectedKey(e))
		}
		doc["expectedResources"] = expected
	}
	doc["enabled"] = true
	if c.Type == model.Helm && c.Source != "" && c.Chart == "" {
		doc["chart"] = c.Name // the default of every deployer
	}
	doc["values"] = values
	return doc, nil
}

// Deploys reports whether a component is deployed; aicr only considers enabled.
func (r *Result) Deploys(c *model.ComponentRef) bool {
	if !r.compat {
		return c.Enabled()
	}
	enabled, stated := c.Overrides["enabled"].(bool)
	return enabled || !stated
}

func expectedKey(e model.ExpectedResource) string { return e.Kind + " " + e.Namespace + "/" + e.Name }

func constraints(list []model.Constraint) map[string]any {
	out := map[string]any{}
	for _, c := range list {
		doc := plainMap(c)
		delete(doc, "name")
		out[c.Name] = doc
	}
	return out
}

// Digest is the SHA-256 of the document in canonical JSON. Recipes with equal content have
// equal digests, whatever their overlays are.
func (r *Result) Digest() (string, error) {
	doc, err := r.Document()
	if err != nil {
		return "", err
	}
	delete(doc, "criteria")
	delete(doc, "overlays")
	delete(doc, "mixins")
	return digest.JSON(doc)
}

// names reports whether a list of the document contains names, whose order has no meaning.
func names(p query.Path) bool {
	switch len(p) {
	case 1:
		return p[0] == "overlays" || p[0] == "mixins"
	case 3:
		if p[0] == "validation" {
			return p[2] == "checks"
		}
		switch p[2] {
		case "patches", "manifestFiles", "preManifestFiles", "dependencyRefs", "expectedResources":
			return p[0] == "components"
		}
	case 4:
		return p[0] == "validation" && p[3] == "excludeNodes"
	}
	return false
}

// plain converts a struct of the model to plain values, using its JSON.
func plain(v any) any {
	data, err := json.Marshal(v)
	if err != nil {
		panic("resolve: encode a struct of the model: " + err.Error()) // all fields can be encoded
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	var out any
	if err := dec.Decode(&out); err != nil {
		panic("resolve: decode what was encoded: " + err.Error())
	}
	return integers(out)
}

func plainMap(v any) map[string]any {
	m, _ := plain(v).(map[string]any) // a struct is encoded as an object
	return m
}

func integers(v any) any {
	switch x := v.(type) {
	case map[string]any:
		for key, value := range x {
			x[key] = integers(value)
		}
	case []any:
		for i := range x {
			x[i] = integers(x[i])
		}
	case json.Number:
		if n, err := x.Int64(); err == nil {
			return n
		}
		f, _ := x.Float64() // the text is a valid number
		return f
	}
	return v
}
