package lint

import (
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/firstlight/firstlight/internal/diag"
	"github.com/firstlight/firstlight/internal/recipe/model"
	"github.com/firstlight/firstlight/internal/recipe/query"
	"github.com/firstlight/firstlight/internal/recipe/rule"
	"github.com/firstlight/firstlight/internal/recipe/tree"
)

const registryFile = "registry.yaml"

func (l *linter) registry() {
	for _, c := range l.t.Components {
		kinds := 0
		for _, there := range []bool{c.Helm != nil, c.Kustomize != nil, c.Manifest != nil} {
			if there {
				kinds++
			}
		}
		if kinds != 1 {
			l.at(rule.RegistryShape, registryFile, []string{"components", strconv.Itoa(c.Index), "name"}, "%s has %d of helm, kustomize and manifest", c.Name, kinds)
		}
	}
}

// profile checks that the values include the default, and that all values assign the same
// paths.
func (l *linter) profile(file string, p *model.Profile) {
	if _, ok := p.Values[p.Default]; !ok {
		l.at(rule.ProfileShape, file, []string{"spec", "profile", "default"}, "invalid default %q: must be one of %s",
			p.Default, strings.Join(slices.Sorted(maps.Keys(p.Values)), ", "))
	}
	var first []string
	for i, name := range slices.Sorted(maps.Keys(p.Values)) {
		assigned := paths(p.Values[name])
		if i == 0 {
			first = assigned
		} else if !slices.Equal(first, assigned) {
			l.at(rule.ProfileShape, file, []string{"spec", "profile", "values", name}, "value %s assigns %s, but another value assigns %s",
				name, listed(assigned), listed(first))
		}
	}
}

func listed(paths []string) string {
	if len(paths) == 0 {
		return "nothing"
	}
	return strings.Join(paths, " ")
}

func paths(v model.ProfileValue) []string {
	var out []string
	for _, ref := range v.ComponentRefs {
		for _, leaf := range query.Flatten(ref.Overrides, nil) {
			out = append(out, ref.Name+":"+leaf.Path.String())
		}
	}
	slices.Sort(out)
	return out
}

// unused reports files, mixins and registry entries without a reference.
func (l *linter) unused() {
	used := map[string]bool{}
	mixins, components := map[string]bool{}, map[string]bool{}
	mark := func(refs []model.ComponentRef) {
		for i := range refs {
			components[refs[i].Name] = true
			for _, f := range slices.Concat(l.t.ValuesFiles(&refs[i]), refs[i].ManifestFiles, refs[i].PreManifestFiles, refs[i].Patches) {
				used[path.Clean(f)] = true
			}
		}
	}
	for _, o := range append([]*tree.Overlay{l.t.Base}, l.t.Overlays...) {
		mark(o.Spec.ComponentRefs)
		for _, m := range o.Spec.Mixins {
			mixins[m] = true
		}
	}
	for _, m := range l.t.Mixins {
		mark(m.Spec.ComponentRefs)
		if !mixins[m.Metadata.Name] {
			l.at(rule.UnusedMixin, m.File, []string{"metadata", "name"}, "no overlay uses the mixin %s", m.Metadata.Name)
		}
	}
	for _, c := range l.t.Components {
		for _, f := range c.ManifestFiles {
			used[path.Clean(f)] = true
		}
		if c.Upgrades != nil {
			used[path.Clean(c.Upgrades.File)] = true
		}
		if !components[c.Name] {
			l.at(rule.UnusedComponent, registryFile, []string{"components", strconv.Itoa(c.Index), "name"}, "no overlay uses %s", c.Name)
		}
	}
	for _, p := range l.t.Paths {
		if strings.HasPrefix(p, "components/") && path.Ext(p) == ".yaml" && !used[p] {
			l.problems = append(l.problems, rule.UnusedFile.At(diag.Pos{File: l.t.Name(p)}, "no file refers to %s", p))
		}
	}
}
