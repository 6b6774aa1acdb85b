package resolve

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/firstlight/firstlight/internal/diag"
	"github.com/firstlight/firstlight/internal/recipe/model"
	"github.com/firstlight/firstlight/internal/recipe/rule"
)

// profile merges the requested value of the recipe's profile, or the default. If several
// overlays declare the profile, the last declaration applies.
func (d *draft) profile(asked string) error {
	name, value, given := strings.Cut(asked, "=")
	if asked != "" && (!given || name == "" || value == "") {
		return fmt.Errorf("invalid profile %q: must be name=value", asked)
	}
	if len(d.profiles) == 0 {
		if given {
			return fmt.Errorf("cannot select profile %s: the recipe has no profile", name)
		}
		return nil
	}
	p := d.profiles[len(d.profiles)-1]
	for _, other := range d.profiles {
		if other.Name != p.Name {
			return diag.List{rule.ProfileConflict.At(d.tree.ValuePos(p.overlay.File, "spec", "profile", "name"),
				"conflicting profiles: %s of %s, and %s", other.Name, other.overlay.Name, p.Name)}
		}
	}
	if !given {
		name, value = p.Name, p.Default
	}
	chosen, ok := p.Values[value]
	if !given && !ok {
		return diag.List{rule.ProfileShape.At(d.tree.ValuePos(p.overlay.File, "spec", "profile", "default"),
			"invalid default %q of profile %s: must be one of its values", value, name)}
	}
	if name != p.Name || !ok {
		return fmt.Errorf("unknown profile value %s=%s: the recipe has the profile %s with %s", name, value, p.Name, strings.Join(slices.Sorted(maps.Keys(p.Values)), ", "))
	}
	d.selected = &model.SelectedProfile{Name: name, Value: value, Advertiser: chosen.Advertiser}
	return d.applyProfile(p, value, chosen)
}

func (d *draft) applyProfile(p declaredProfile, value string, v model.ProfileValue) error {
	l := layer{name: "profile " + p.Name + "=" + value, file: p.overlay.File}
	keys := d.at("spec", "profile", "values", value)
	for i := range v.Constraints {
		d.constraint(d.constraints, &v.Constraints[i], l, d.at("constraints"), keys.with("constraints", index(i)))
	}
	if len(v.ReadinessConstraints) > 0 {
		if d.validation == nil {
			d.validation = &model.Validation{}
		}
		if d.validation.Readiness == nil {
			d.validation.Readiness = &model.Phase{}
		}
		d.phaseConstraints(d.validation.Readiness, v.ReadinessConstraints, l, d.at("validation", "readiness", "constraints"), keys.with("readinessConstraints"))
	}
	for i := range v.ComponentRefs {
		ref := &v.ComponentRefs[i]
		have := d.components[ref.Name]
		if have == nil {
			return diag.List{rule.UnknownComponent.At(d.tree.ValuePos(p.overlay.File, keys.with("componentRefs", index(i), "name")...),
				"profile %s=%s sets values of %s, which is not in the recipe", p.Name, value, ref.Name)}
		}
		if have.Overrides == nil {
			have.Overrides = map[string]any{}
		}
		d.trace.mergeValues(have.Overrides, ref.Overrides, l, d.at("components", ref.Name, "values"), keys.with("componentRefs", index(i), "overrides"))
	}
	return nil
}
