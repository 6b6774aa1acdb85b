package judge

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/firstlight/firstlight/internal/recipe/footprint"
	"github.com/firstlight/firstlight/internal/schedule/scenario"
)

// whyNoResource returns why a node does not provide an extended resource; false where no
// component provides it.
func (v *view) whyNoResource(node string, resource corev1.ResourceName, w visited) (cause, bool) {
	n, _ := v.node(node)
	for _, g := range n.Grants {
		if g.Resource == resource {
			return v.whyNotGranted(n, g, w), true
		}
	}
	for _, g := range n.Lacks {
		if g.Resource == resource {
			return v.noComponent(g.Component, fmt.Sprintf("provide %s on %s", resource, v.at(v.ofShape(n)))), true
		}
	}
	return cause{}, false
}

// whyNotGranted returns why a component does not provide a resource on a node.
func (v *view) whyNotGranted(n scenario.Node, g scenario.Grant, w visited) cause {
	operands := v.workloadsOf(g.Component, func(e expected) bool { return e.Kind == scenario.DaemonSet && e.Class == footprint.Accelerated })
	plugin := slices.IndexFunc(operands, func(e expected) bool { return slices.Contains(e.workload.Brings, string(g.Resource)) })
	if plugin < 0 {
		return cause{
			key: g.Component + " does not bring " + string(g.Resource), suspect: g.Component,
			message: fmt.Sprintf("has no DaemonSet in this recipe that provides %s on %s: its device plugin is disabled or provides another resource", g.Resource, v.at(v.ofShape(n))),
			remedy:  fmt.Sprintf("enable its device plugin in the values of %s (when and brings, in %s), or correct the resource name in the profile %s", g.Component, fileOr(v.scenario.Advice[g.Component].Footprint), v.profile(n.Name)),
		}
	}
	for _, e := range operands {
		if slices.Contains(e.Nodes, n.Name) && !v.runs(e.Expected, n.Name) {
			return v.whyNotRunning(e, n.Name, w)
		}
	}
	e := operands[plugin]
	if !v.runs(e.Expected, n.Name) {
		return v.whyNotRunning(e, n.Name, w)
	}
	return cause{
		key: e.id() + " serves " + string(g.Resource), suspect: e.id(),
		message: fmt.Sprintf("runs on %s, but %s has not appeared there", v.at([]string{n.Name}), g.Resource),
		remedy:  "run the test again; if it persists, see in the evidence which client updates the nodes' status",
	}
}

// noComponent: the recipe lacks a component that others wait for.
func (v *view) noComponent(component, does string) cause {
	return cause{
		key: component + " not in the recipe", suspect: component,
		message: "is not in the recipe and would " + does,
		remedy:  fmt.Sprintf("add the component %s to an overlay of the recipe, or enable it where it is disabled", component),
	}
}

func (v *view) component(name string) (footprint.Component, bool) {
	i := slices.IndexFunc(v.scenario.Components, func(c footprint.Component) bool { return c.Name == name })
	if i < 0 {
		return footprint.Component{}, false
	}
	return v.scenario.Components[i], true
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

// ofShape lists the recipe's own nodes of a node's class; they have one shape.
func (v *view) ofShape(n scenario.Node) []string {
	var out []string
	for _, other := range v.scenario.Own(n.Class) {
		out = append(out, other.Name)
	}
	return out
}
