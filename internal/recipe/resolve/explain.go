package resolve

import (
	"slices"

	"github.com/firstlight/firstlight/internal/diag"
	"github.com/firstlight/firstlight/internal/recipe/query"
)

// Value is one value of a recipe with its origin.
type Value struct {
	Path  query.Path `json:"-"`
	Name  string     `json:"path"`
	Value any        `json:"value"`
	// Set are the layers that set it, in order; the last one takes effect. It is empty for
	// computed and implied values.
	Set []Setting `json:"set"`
}

// Setting is a value as set by one layer.
type Setting struct {
	Layer string    `json:"layer"`
	At    *diag.Pos `json:"at,omitempty"`
	Value any       `json:"value"`
}

// Explain lists the values below a path with the layers that set them. It requires
// Options.Explain.
func (r *Result) Explain(below query.Path) ([]Value, error) {
	doc, err := r.Document()
	if err != nil {
		return nil, err
	}
	files := map[string][]Origin{}
	for i := range r.ComponentRefs {
		r.fromFiles(i, files)
	}
	var out []Value
	for _, leaf := range query.Flatten(doc, names) {
		if !inside(leaf.Path, below) || computed(leaf.Path) {
			continue
		}
		v := Value{Path: leaf.Path, Name: leaf.Path.String(), Value: leaf.Value, Set: []Setting{}}
		for _, o := range append(files[v.Name], r.trace[v.Name]...) {
			s := Setting{Layer: o.Layer, Value: o.Value}
			if pos := r.Pos(o); pos.File != "" {
				s.At = &pos
			}
			v.Set = append(v.Set, s)
		}
		out = append(out, v)
	}
	return out, nil
}

// computed returns true for parts of a document that no layer sets.
func computed(p query.Path) bool {
	switch p[0] {
	case "criteria", "overlays", "mixins", "profile", "deploymentOrder":
		return true
	default:
		return false
	}
}

// fromFiles adds the settings of a component's values files.
func (r *Result) fromFiles(i int, into map[string][]Origin) {
	c := &r.ComponentRefs[i]
	for _, file := range r.tree.ValuesFiles(c) {
		f, problems := r.tree.Values(file)
		if problems.Err() != nil {
			continue
		}
		t := trace{}
		t.setAll(at{"components", c.Name, "values"}, layer{name: "values", file: file}, at{}, f.Values)
		for key, origins := range t {
			into[key] = append(into[key], origins...)
		}
	}
}

// inside reports whether a path is below another, in which * matches any key.
func inside(p, below query.Path) bool {
	return len(p) >= len(below) && slices.EqualFunc(p[:len(below)], below, func(a, b string) bool { return b == "*" || a == b })
}
