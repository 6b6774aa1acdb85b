package chart

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/firstlight/firstlight/internal/recipe/footprint"
	"github.com/firstlight/firstlight/internal/recipe/model"
	"github.com/firstlight/firstlight/internal/recipe/resolve"
	"github.com/firstlight/firstlight/internal/recipe/tree"
)

// recipes are all recipes of a tree, resolved.
type recipes struct {
	tree    *tree.Tree
	results map[string]*resolve.Result
	names   []string
}

func resolveAll(t *tree.Tree) (*recipes, error) {
	all := &recipes{tree: t, results: map[string]*resolve.Result{}}
	for _, o := range t.Recipes() {
		r, err := resolve.Resolve(t, o.Criteria, resolve.Options{})
		if err != nil {
			return nil, fmt.Errorf("resolve recipe %s: %w", o.Name, err)
		}
		all.results[o.Name] = r
		all.names = append(all.names, o.Name)
	}
	slices.Sort(all.names)
	return all, nil
}

// of are the recipes that deploy a component, with its entry in each.
func (all *recipes) of(component string) map[string]*model.ComponentRef {
	out := map[string]*model.ComponentRef{}
	for name, r := range all.results {
		if c, ok := r.Component(component); ok && c.Enabled() {
			out[name] = c
		}
	}
	return out
}

// charts are the charts of a component in the recipes, each with how many have it.
func charts(refs map[string]*model.ComponentRef) map[chartKey]int {
	out := map[chartKey]int{}
	for _, c := range refs {
		if c.Type == model.Helm {
			out[chartOf(c)]++
		}
	}
	return out
}

// chartKey says which chart a recipe has.
type chartKey struct{ Repository, Name, Version string }

func chartOf(c *model.ComponentRef) chartKey {
	return chartKey{Repository: c.Source, Name: cmp.Or(c.Chart, c.Name), Version: c.Version}
}

// kase is one set of values of a component.
type kase struct {
	values  string // digest
	recipes []string
	// settings are the ways in which recipes with these values differ otherwise: their
	// namespace, and the kinds that their other components bring. Each names a recipe.
	settings []setting
}

type setting struct {
	settings

	recipe string
}

// cases are the sets of values of a component in the recipes that have this version
// of its chart, in the order of their digests.
func (all *recipes) cases(component, version string, footprints *footprint.Set) ([]kase, error) {
	byDigest := map[string]*kase{}
	refs := all.of(component)
	for _, name := range slices.Sorted(maps.Keys(refs)) {
		ref := refs[name]
		if !sameVersion(ref.Version, version) || ref.Type != model.Helm {
			continue
		}
		values, err := all.results[name].Values(component)
		if err != nil {
			return nil, fmt.Errorf("values of %s in recipe %s: %w", component, name, err)
		}
		digest, err := footprint.ValuesDigest(values)
		if err != nil {
			return nil, fmt.Errorf("values of %s in recipe %s: %w", component, name, err)
		}
		data, err := json.Marshal(values)
		if err != nil {
			return nil, fmt.Errorf("values of %s in recipe %s: %w", component, name, err)
		}
		k := byDigest[digest]
		if k == nil {
			k = &kase{values: digest}
			byDigest[digest] = k
		}
		k.recipes = append(k.recipes, name)
		k.add(setting{recipe: name, settings: settings{
			release: component, namespace: cmp.Or(ref.Namespace, component), values: data, apis: all.apis(name, component, footprints),
		}})
	}
	var out []kase
	for _, digest := range slices.Sorted(maps.Keys(byDigest)) {
		out = append(out, *byDigest[digest])
	}
	return out, nil
}

func (k *kase) add(s setting) {
	if !slices.ContainsFunc(k.settings, func(have setting) bool {
		return have.namespace == s.namespace && slices.Equal(have.apis, s.apis)
	}) {
		k.settings = append(k.settings, s)
	}
}

// apis are the kinds that a recipe's other components bring.
func (all *recipes) apis(recipe, but string, footprints *footprint.Set) []string {
	set := map[string]bool{}
	for i := range all.results[recipe].ComponentRefs {
		c := &all.results[recipe].ComponentRefs[i]
		f, ok := footprints.Get(c.Name)
		if !ok || c.Name == but || !c.Enabled() {
			continue
		}
		for _, api := range f.Spec.APIs {
			set[api] = true
		}
	}
	return slices.Sorted(maps.Keys(set))
}

// shown are the recipes of a case for people: without those based on another one of
// it; none if all that have the component have these values.
func (all *recipes) shown(k *kase, component string) []string {
	if len(k.recipes) == len(all.of(component)) {
		return nil
	}
	var out []string
	for _, name := range k.recipes {
		o, ok := all.tree.Overlay(name)
		if ok && !slices.ContainsFunc(o.Chain(), func(p *tree.Overlay) bool { return p != o && slices.Contains(k.recipes, p.Name) }) {
			out = append(out, name)
		}
	}
	return out
}
