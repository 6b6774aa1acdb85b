package judge

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/firstlight/firstlight/internal/recipe/footprint"
	"github.com/firstlight/firstlight/internal/schedule/scenario"
)

// whyNoResource says why a node does not offer an extended resource; false where
// nothing would make it.
func (v *view) whyNoResource(node string, resource corev1.ResourceName, w way) (cause, bool) {
	n, _ := v.node(node)
	for _, g := range n.Grants {
		if g.Resource == resource {
			return v.whyNotGranted(n, g, w), true
		}
	}
	for _, g := range n.Lacks {
		if g.Resource == resource {
			return v.noComponent(g.Component, fmt.Sprintf("brings %s to %s", resource, v.at(v.ofShape(n)))), true
		}
	}
	return cause{}, false
}

// whyNotGranted says why a component does not serve a node.
func (v *view) whyNotGranted(n scenario.Node, g scenario.Grant, w way) cause {
	operands := v.workloadsOf(g.Component, func(e expected) bool { return e.Kind == scenario.DaemonSet && e.Class == footprint.Accelerated })
	plugin := slices.IndexFunc(operands, func(e expected) bool { return slices.Contains(e.workload.Brings, string(g.Resource)) })
	if plugin < 0 {
		return cause{
			key: g.Component + " does not bring " + string(g.Resource), suspect: g.Component,
			message: fmt.Sprintf("has no DaemonSet in this recipe that brings %s to %s: its device plugin is switched off, or brings something else", g.Resource, v.at(v.ofShape(n))),
			remedy:  fmt.Sprintf("switch its device plugin on in the values of %s (when and brings, in %s), or correct the resource's name in the profile %s", g.Component, orSome(v.cell.Advice[g.Component].Footprint), v.profile(n.Name)),
		}
	}
	for _, e := range operands {
		if slices.Contains(e.Nodes, n.Name) && !v.runs(e.Expected, n.Name) {
			return v.whyNotThere(e, n.Name, w)
		}
	}
	e := operands[plugin]
	if !v.runs(e.Expected, n.Name) {
		return v.whyNotThere(e, n.Name, w)
	}
	return cause{
		key: e.id() + " serves " + string(g.Resource), suspect: e.id(),
		message: fmt.Sprintf("runs on %s, and %s has not appeared there", v.at([]string{n.Name}), g.Resource),
		remedy:  "run the test again; if it stays, what changed the nodes' status in the test is in the evidence",
	}
}

// noComponent is a component that others wait for, and that the recipe does not have.
func (v *view) noComponent(component, does string) cause {
	return cause{
		key: component + " not in the recipe", suspect: component,
		message: "is not in the recipe, and " + does,
		remedy:  fmt.Sprintf("add the component %s to an overlay of the recipe, or enable it where it is disabled", component),
	}
}

func (v *view) component(name string) (footprint.Component, bool) {
	i := slices.IndexFunc(v.cell.Components, func(c footprint.Component) bool { return c.Name == name })
	if i < 0 {
		return footprint.Component{}, false
	}
	return v.cell.Components[i], true
}

func (v *view) workloadsOf(component string, match func(expected) bool) []expected {
	var out []expected
	for _, e := range v.expected {
		if e.Component == component && match(e) {
			out = append(out, e)
		}
	}
	return out
}

// ofShape are the recipe's own nodes of a node's class, which have one shape.
func (v *view) ofShape(n scenario.Node) []string {
	var out []string
	for _, other := range v.cell.Own(n.Class) {
		out = append(out, other.Name)
	}
	return out
}
