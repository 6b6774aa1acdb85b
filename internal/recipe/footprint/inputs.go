package footprint

import (
	"path"

	"github.com/firstlight/firstlight/internal/recipe/digest"
	"github.com/firstlight/firstlight/internal/recipe/model"
	"github.com/firstlight/firstlight/internal/recipe/resolve"
)

// Inputs are the parts of footprints that determine a recipe's pods: the rules of each enabled
// component, and of a rendered one the lock for its values. Documentation fields and locks for
// other values are left out, because they change no pods of the recipe. A missing footprint or
// lock has an empty digest.
func (s *Set) Inputs(r *resolve.Result) []resolve.Input {
	var out []resolve.Input
	for _, name := range r.DeploymentOrder {
		c, ok := r.Component(name)
		if !ok || !c.Enabled() {
			continue
		}
		f, ok := s.Get(name)
		if !ok {
			out = append(out, resolve.Input{Path: path.Join(Dir, name+".yaml"), Why: "footprint"})
			continue
		}
		out = append(out, resolve.Input{Path: f.Path, Part: "rules", Digest: f.rulesDigest(), Why: "footprint"})
		if f.Spec.Source == Rendered {
			out = append(out, f.renderInput(r, name))
		}
	}
	return out
}

func (f *Footprint) renderInput(r *resolve.Result, component string) resolve.Input {
	in := resolve.Input{Path: f.Path, Why: "render"}
	values, err := r.Values(component)
	if err != nil {
		return in
	}
	of, err := ValuesDigest(values)
	if err != nil {
		return in
	}
	in.Part = "renders/" + of
	for i := range f.Spec.Renders {
		if f.Spec.Renders[i].Values == of {
			locked := f.Spec.Renders[i]
			locked.Recipes = nil
			in.Digest = digest.MustJSON(locked)
		}
	}
	return in
}

func (f *Footprint) rulesDigest() string {
	rules := model.Footprint{Metadata: model.Metadata{Name: f.Metadata.Name}, Spec: f.Spec}
	rules.Spec.Renders, rules.Spec.DocumentedAt, rules.Spec.Unverified = nil, nil, nil
	return digest.MustJSON(rules)
}
