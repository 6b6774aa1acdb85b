package footprint

import (
	"fmt"
	"strings"

	"github.com/firstlight/firstlight/internal/recipe/model"
	"github.com/firstlight/firstlight/internal/recipe/rule"
)

// version holds what the footprint describes against what the recipe deploys.
func (b *builder) version(c *model.ComponentRef, f *Footprint) {
	has, want := "manifests alone", deployed(c)
	at := f.At("spec")
	switch {
	case f.Spec.Chart != nil:
		has, at = release("chart", f.Spec.Chart.Name, f.Spec.Chart.Version), f.ValueAt("spec", "chart", "version")
	case f.Spec.Kustomize != nil:
		has, at = release("kustomization", f.Spec.Kustomize.Path, f.Spec.Kustomize.Tag), f.ValueAt("spec", "kustomize", "tag")
	}
	if has == want {
		return
	}
	if pinned, overlay := versionAt(b.r, c); overlay {
		at = pinned
	}
	b.problems = append(b.problems, rule.FootprintVersion.At(at, "the recipe deploys %s as %s, and its footprint %s describes %s", c.Name, want, f.Name, has).
		With("run firstlight recipe footprint update %s, or write the footprint of this version", c.Name))
}

// deployed says what a component is deployed from.
func deployed(c *model.ComponentRef) string {
	switch {
	case c.Type == model.Kustomize:
		return release("kustomization", c.Path, c.Tag)
	case c.Source == "":
		return "manifests alone"
	default:
		return release("chart", c.Chart, c.Version)
	}
}

// release names what is deployed; versions with a v in front are those without.
func release(kind, name, version string) string {
	return fmt.Sprintf("%s %s %s", kind, name, strings.TrimPrefix(version, "v"))
}
