package resolve

import (
	"maps"
	"slices"

	"github.com/firstlight/firstlight/internal/recipe/criteria"
	"github.com/firstlight/firstlight/internal/recipe/model"
	"github.com/firstlight/firstlight/internal/recipe/tree"
)

// draft is a recipe under construction.
type draft struct {
	tree   *tree.Tree
	compat bool
	trace  trace

	applied     []*tree.Overlay
	mixinNames  []string
	mixedIn     []string
	constraints map[string]*model.Constraint
	components  map[string]*model.ComponentRef
	validation  *model.Validation
	profiles    []declaredProfile
	selected    *model.SelectedProfile
}

type declaredProfile struct {
	*model.Profile
	overlay *tree.Overlay
}

func newDraft(t *tree.Tree, o Options) *draft {
	d := &draft{tree: t, compat: o.Compat, constraints: map[string]*model.Constraint{}, components: map[string]*model.ComponentRef{}}
	if o.Explain {
		d.trace = trace{}
	}
	return d
}

// mergeAll merges the root, then each overlay after its bases, each once.
func (d *draft) mergeAll(overlays []*tree.Overlay) {
	done := map[*tree.Overlay]bool{}
	d.mergeOverlay(d.tree.Base)
	for _, o := range overlays {
		for _, a := range o.Chain() {
			if !done[a] {
				done[a] = true
				d.mergeOverlay(a)
			}
		}
	}
}

func (d *draft) mergeOverlay(o *tree.Overlay) {
	d.applied = append(d.applied, o)
	l := layer{name: o.Name, file: o.File, overlay: o}
	spec := &o.Spec
	for i := range spec.Constraints {
		d.constraint(d.constraints, &spec.Constraints[i], l, d.at("constraints"), d.at("spec", "constraints", index(i)))
	}
	for i := range spec.ComponentRefs {
		d.component(&spec.ComponentRefs[i], l, d.at("spec", "componentRefs", index(i)))
	}
	if spec.Validation != nil {
		d.mergeValidation(spec.Validation, l, d.at("spec", "validation"))
	}
	for _, m := range spec.Mixins {
		if !slices.Contains(d.mixinNames, m) {
			d.mixinNames = append(d.mixinNames, m)
		}
	}
	if spec.Profile != nil {
		d.profiles = append(d.profiles, declaredProfile{Profile: spec.Profile, overlay: o})
	}
}

// constraint merges a constraint into the one of the same name, by field.
func (d *draft) constraint(into map[string]*model.Constraint, c *model.Constraint, l layer, path, keys at) {
	have := into[c.Name]
	if have == nil || d.compat {
		have = &model.Constraint{Name: c.Name}
		into[c.Name] = have
	}
	path = path.with(c.Name)
	d.text(&have.Value, c.Value, l, path.with("value"), keys.with("value"))
	d.text(&have.Severity, c.Severity, l, path.with("severity"), keys.with("severity"))
	d.text(&have.Remediation, c.Remediation, l, path.with("remediation"), keys.with("remediation"))
	d.text(&have.Unit, c.Unit, l, path.with("unit"), keys.with("unit"))
}

// text sets a field if the layer states it.
func (d *draft) text(have *string, stated string, l layer, path, keys at) {
	if stated == "" {
		return
	}
	*have = stated
	if d.trace != nil {
		d.trace.set(path, l, keys, stated)
	}
}

// recipe converts the draft to a recipe with sorted lists.
func (d *draft) recipe(q criteria.Criteria, order []string) *model.Recipe {
	r := &model.Recipe{
		Header:   model.Header{Kind: model.KindRecipe, APIVersion: model.APIVersion},
		Metadata: model.RecipeMetadata{AppliedMixins: d.mixedIn, SelectedProfile: d.selected},
		Criteria: q, ComponentRefs: []model.ComponentRef{}, DeploymentOrder: order, Validation: d.validation,
	}
	for _, o := range d.applied {
		r.Metadata.AppliedOverlays = append(r.Metadata.AppliedOverlays, o.Name)
	}
	for _, name := range slices.Sorted(maps.Keys(d.constraints)) {
		r.Constraints = append(r.Constraints, *d.constraints[name])
	}
	for _, name := range slices.Sorted(maps.Keys(d.components)) {
		r.ComponentRefs = append(r.ComponentRefs, *d.components[name])
	}
	return r
}
