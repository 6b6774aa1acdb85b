package lint

import (
	"strings"

	"github.com/firstlight/firstlight/internal/diag"
	"github.com/firstlight/firstlight/internal/recipe/model"
	"github.com/firstlight/firstlight/internal/recipe/resolve"
	"github.com/firstlight/firstlight/internal/recipe/rule"
)

// deployable reports what prevents a component from being deployed reproducibly.
func deployable(r *resolve.Result, c *model.ComponentRef) diag.List {
	var out diag.List
	add := func(rule diag.Rule, field, format string, args ...any) {
		keys := []string{"components", c.Name}
		if field != "" {
			keys = append(keys, field)
		}
		out = append(out, rule.At(r.Where(keys...), format, args...))
	}
	_, registered := r.Tree().Components[c.Name]
	if c.Type == model.Kustomize {
		if !registered && c.Source == "" && c.Path == "" {
			return diag.List{unregistered(r, c)}
		}
		kustomize(c, add)
		return out
	}
	notKustomize(c, add)
	switch {
	case c.Source != "" && strings.TrimPrefix(c.Version, "v") == "":
		add(rule.Unpinned, "source", "chart of %s has no version", c.Name)
	case c.Source == "" && c.Chart != "":
		add(rule.ComponentShape, "chart", "%s has a chart but no source", c.Name)
	case c.Source == "" && len(c.ManifestFiles) == 0 && !registered:
		out = append(out, unregistered(r, c))
	case c.Source == "" && len(c.ManifestFiles) == 0:
		add(rule.ComponentShape, "", "%s has neither a chart nor manifests", c.Name)
	}
	return out
}

func kustomize(c *model.ComponentRef, add func(r diag.Rule, field, format string, args ...any)) {
	if c.Path == "" {
		add(rule.ComponentShape, "", "%s has the type Kustomize but no path", c.Name)
	}
	switch {
	case c.Source == "":
		add(rule.ComponentShape, "", "%s has the type Kustomize but no source", c.Name)
	case c.Tag == "":
		add(rule.Unpinned, "source", "%s has no tag", c.Name)
	}
}

func unregistered(r *resolve.Result, c *model.ComponentRef) diag.Problem {
	p := rule.UnknownComponent.At(r.Where("components", c.Name), "component %s is not in the registry", c.Name)
	names := make([]string, 0, len(r.Tree().Components))
	for name := range r.Tree().Components {
		names = append(names, name)
	}
	if near := diag.Nearest(c.Name, names); near != "" {
		p = p.With("did you mean %s?", near)
	}
	return p
}

// notKustomize reports fields that only a Kustomize component may have.
func notKustomize(c *model.ComponentRef, add func(rule diag.Rule, field, format string, args ...any)) {
	for field, value := range map[string]string{"tag": c.Tag, "path": c.Path} {
		if value != "" {
			add(rule.ComponentShape, field, "%s has the type Helm but sets %s, which only Kustomize components have", c.Name, field)
		}
	}
}
