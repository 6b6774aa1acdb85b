package runner

import (
	"fmt"
)

// Labels of what a cell is made of.
const (
	// LabelCell is the cell that an object was made for.
	LabelCell = "firstlight.dev/recipe-cell"
	// labelOf is, on workloads and their pods, which workload of the cell it is.
	labelOf = "firstlight.dev/recipe-of"
	// labelOwn is the cell, on the recipe's own nodes; those for controls lack it.
	labelOwn = "firstlight.dev/recipe-own"
	// labelTurn is, on nodes, how often the node was written: who asks for a node with
	// the newest has seen what was written with it.
	labelTurn = "firstlight.dev/recipe-round"
)

// home is the namespace of what is no component's.
const home = "home"

// maxName is the most characters that a namespace's name has.
const maxName = 63

// idOf is the n-th cell's own prefix.
func idOf(n int64) string { return fmt.Sprintf("c%04d", n) }

// prefixed is a name of the cell as the control plane has it.
func prefixed(id, name string) string { return id + "-" + name }

// namespaces are the cell's, by their names in the recipe.
type namespaces struct {
	id     string
	byName map[string]string
	// order in which they were added.
	order []string
}

// add gives a namespace of the recipe its own on the control plane.
func (n *namespaces) add(name string) string {
	if made, ok := n.byName[name]; ok {
		return made
	}
	made := n.of(name)
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

// selected are the namespaces that have to exist, in the order in which they were
// added: all of them where pods choose other pods by the labels of their namespaces.
func (l *layout) selected() []string {
	for _, w := range append(l.components[:len(l.components):len(l.components)], l.probe) {
		if selectsNamespaces(w.spec.Pod.Affinity) {
			return l.spaces.order
		}
	}
	return nil
}

// of is a namespace on the control plane. One that no workload is in does not exist
// there, and must still not be another's.
func (n *namespaces) of(name string) string {
	if made, ok := n.byName[name]; ok {
		return made
	}
	return prefixed(n.id, name)
}
