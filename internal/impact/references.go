package impact

import (
	"path"

	"github.com/firstlight/firstlight/internal/recipe/model"
	"github.com/firstlight/firstlight/internal/recipe/tree"
)

// names are the components, files and checks that an overlay, mixin or registry entry refers
// to.
type names struct {
	components, files, checks []string
}

func (n *names) component(c *model.ComponentRef) {
	n.components = append(n.components, c.Name)
	if c.ValuesFile != "" {
		n.file(c.ValuesFile)
		n.file("components/" + c.Name + "/values.yaml") // the base values, if the file exists
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
	return n // a profile only sets values of components named above
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

// references returns all files that something in the tree names.
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
