package runner

import (
	"fmt"
)

// Labels of a scenario's objects.
const (
	// LabelScenario holds the id of the object's scenario.
	LabelScenario = "firstlight.dev/recipe-scenario"
	// labelWorkload identifies a workload of the scenario, on workloads and pods.
	labelWorkload = "firstlight.dev/recipe-of"
	// labelOwn holds the scenario's id on the recipe's own nodes, not on those of controls.
	labelOwn = "firstlight.dev/recipe-own"
	// labelRound counts the updates of a node. A pod that selects the newest round is
	// evaluated with the newest version of the node.
	labelRound = "firstlight.dev/recipe-round"
)

// defaultNamespace is the namespace of probe, controls and barriers.
const defaultNamespace = "home"

// maxName is the maximum length of a namespace name.
const maxName = 63

// idOf is the n-th scenario's prefix.
func idOf(n int64) string { return fmt.Sprintf("c%04d", n) }

// prefixed is a scenario's name on the control plane.
func prefixed(id, name string) string { return id + "-" + name }

// namespaces maps namespaces of the recipe to those on the control plane.
type namespaces struct {
	id     string
	byName map[string]string
	// order of addition.
	order []string
}

// add maps a namespace of the recipe to a new one on the control plane.
func (n *namespaces) add(name string) string {
	if made, ok := n.byName[name]; ok {
		return made
	}
	made := n.get(name)
	if len(made) > maxName {
		made = prefixed(n.id, fmt.Sprintf("n%d", len(n.order)))
	}
	if n.byName == nil {
		n.byName = map[string]string{}
	}
	n.byName[name] = made
	n.order = append(n.order, made)
	return made
}

// selected lists the namespaces that must exist, in order of addition: all of them where
// an affinity term selects namespaces by label.
func (l *layout) selected() []string {
	for _, w := range append(l.components[:len(l.components):len(l.components)], l.probe) {
		if selectsNamespaces(w.spec.Pod.Affinity) {
			return l.namespaces.order
		}
	}
	return nil
}

// get returns a namespace on the control plane, also one without workloads, which must
// not be another scenario's.
func (n *namespaces) get(name string) string {
	if made, ok := n.byName[name]; ok {
		return made
	}
	return prefixed(n.id, name)
}
