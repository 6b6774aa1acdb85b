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

// recipes has all recipes of a tree, resolved.
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

// deploying returns the recipes that deploy a component, with its entry in each.
func (all *recipes) deploying(component string) map[string]*model.ComponentRef {
	out := map[string]*model.ComponentRef{}
	for name, r := range all.results {
		if c, ok := r.Component(component); ok && c.Enabled() {
			out[name] = c
		}
	}
	return out
}

// chartsOf counts the recipes for each chart of a component.
func chartsOf(refs map[string]*model.ComponentRef) map[chartKey]int {
	out := map[chartKey]int{}
	for _, c := range refs {
		if c.Type == model.Helm {
			out[chartOf(c)]++
		}
	}
	return out
}

// chartKey identifies the chart of a recipe.
type chartKey struct{ Repository, Name, Version string }

func chartOf(c *model.ComponentRef) chartKey {
	return chartKey{Repository: c.Source, Name: cmp.Or(c.Chart, c.Name), Version: c.Version}
}

// valueSet is one set of Helm values of a component.
type valueSet struct {
	values  string // digest
	recipes []string
	// cases are the other differences between recipes with these values: the namespace, and the
	// API kinds of their other components. Each case names one recipe.
	cases []renderCase
}

type renderCase struct {
	renderOptions

	recipe string
}

// valueSets returns the sets of values of a component in the recipes with this chart version,
// sorted by digest.
func (all *recipes) valueSets(component, version string, footprints *footprint.Set) ([]valueSet, error) {
	byDigest := map[string]*valueSet{}
	refs := all.deploying(component)
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
			k = &valueSet{values: digest}
			byDigest[digest] = k
		}
		k.recipes = append(k.recipes, name)
		k.add(renderCase{recipe: name, renderOptions: renderOptions{
			release: component, namespace: cmp.Or(ref.Namespace, component), values: data, apis: all.apis(name, component, footprints),
		}})
	}
	var out []valueSet
	for _, digest := range slices.Sorted(maps.Keys(byDigest)) {
		out = append(out, *byDigest[digest])
	}
	return out, nil
}

func (k *valueSet) add(s renderCase) {
	if !slices.ContainsFunc(k.cases, func(have renderCase) bool {
		return have.namespace == s.namespace && slices.Equal(have.apis, s.apis)
	}) {
		k.cases = append(k.cases, s)
	}
}

// apis returns the API kinds that a recipe's other components define.
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

// displayNames returns the recipes to name for a value set: without those based on another
// recipe of the set; none if all recipes with the component use these values.
func (all *recipes) displayNames(k *valueSet, component string) []string {
	if len(k.recipes) == len(all.deploying(component)) {
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
