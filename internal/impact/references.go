package impact

import (
	"path"

	"github.com/firstlight/firstlight/internal/recipe/model"
	"github.com/firstlight/firstlight/internal/recipe/tree"
)

// names are what an overlay, a mixin or an entry of the registry may make a recipe
// read, by name.
type names struct {
	components, files, checks []string
}

func (n *names) component(c *model.ComponentRef) {
	n.components = append(n.components, c.Name)
	if c.ValuesFile != "" {
		n.file(c.ValuesFile)
		n.file("components/" + c.Name + "/values.yaml") // below it, where that is there
	}
	for _, list := range [][]string{c.ManifestFiles, c.PreManifestFiles, c.Patches} {
		for _, f := range list {
			n.file(f)
		}
	}
}

func (n *names) file(p string) { n.files = append(n.files, path.Clean(p)) }

func ofOverlay(o *tree.Overlay) names {
	var n names
	for i := range o.Spec.ComponentRefs {
		n.component(&o.Spec.ComponentRefs[i])
	}
	if v := o.Spec.Validation; v != nil {
		for _, phase := range model.PhaseNames() {
			if p := *v.Phase(phase); p != nil {
				n.checks = append(n.checks, p.Checks...)
			}
		}
	}
	return n // what a profile sets it sets of components that are named already
}

func ofMixin(m *tree.Mixin) names {
	var n names
	for i := range m.Spec.ComponentRefs {
		n.component(&m.Spec.ComponentRefs[i])
	}
	return n
}

func ofEntry(c *tree.Component) names {
	var n names
	for _, f := range c.ManifestFiles {
		n.file(f)
	}
	if c.HealthCheck != nil && c.HealthCheck.AssertFile != "" {
		n.file(c.HealthCheck.AssertFile)
	}
	return n
}

// references are all files that anything in the tree names.
func references(t *tree.Tree) map[string]bool {
	out := map[string]bool{}
	enter := func(n names) {
		for _, f := range n.files {
			out[f] = true
		}
	}
	enter(ofOverlay(t.Base))
	for _, o := range t.Overlays {
		enter(ofOverlay(o))
	}
	for _, m := range t.Mixins {
		enter(ofMixin(m))
	}
	for _, c := range t.Components {
		enter(ofEntry(c))
	}
	return out
}
