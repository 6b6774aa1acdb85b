package footprint

import (
	"fmt"
	"strings"

	"github.com/firstlight/firstlight/internal/recipe/model"
	"github.com/firstlight/firstlight/internal/recipe/rule"
)

// version compares the chart version of the footprint with that of the recipe.
func (b *builder) version(c *model.ComponentRef, f *Footprint) {
	has, want := "manifests only", deployed(c)
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
	b.problems = append(b.problems, rule.FootprintVersion.At(at, "the recipe deploys %s as %s, but its footprint %s describes %s", c.Name, want, f.Name, has).
		With("run firstlight recipe footprint update %s, or write the footprint of this version", c.Name))
}

func deployed(c *model.ComponentRef) string {
	switch {
	case c.Type == model.Kustomize:
		return release("kustomization", c.Path, c.Tag)
	case c.Source == "":
		return "manifests only"
	default:
		return release("chart", c.Chart, c.Version)
	}
}

// release formats a chart or kustomization with its version, without a leading v.
func release(kind, name, version string) string {
	return fmt.Sprintf("%s %s %s", kind, name, strings.TrimPrefix(version, "v"))
}
