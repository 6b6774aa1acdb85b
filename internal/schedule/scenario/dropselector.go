package scenario

import (
	"cmp"
	"slices"

	"github.com/firstlight/firstlight/internal/recipe/footprint"
)

// dropSelector copies the first DaemonSet for GPU nodes, by name, that only its selector keeps
// off a system node. The copy keeps the tolerations, which let it run on any node; its
// requests, ports and labels would block other pods. It is restricted to that system node and
// to one GPU node, because more nodes give the same result.
func (b builder) dropSelector(c *Scenario) (Control, []Node) {
	why := "no component has a DaemonSet for GPU nodes"
	for _, o := range b.operands() {
		why = "taints alone keep every DaemonSet for GPU nodes off system nodes"
		copied := footprint.Workload{Kind: DaemonSet, Name: DropSelector, Class: o.Class, Pod: footprint.Pod{Tolerations: slices.Clone(o.Pod.Tolerations)}}
		system, ok := b.freed(c, o.Workload, copied)
		if !ok {
			continue
		}
		nodes := []string{system, c.Own(footprint.Accelerated)[0].Name}
		return Control{Name: DropSelector, Workload: copied, Of: o.component + "/" + o.Name, Nodes: nodes}, nil
	}
	return Control{Name: DropSelector, NotApplicable: why}, nil
}

type operand struct {
	component string
	footprint.Workload
}

// operands are the DaemonSets for GPU nodes, by name: in whatever order they are deployed.
func (b builder) operands() []operand {
	var out []operand
	for _, c := range b.components {
		for _, w := range c.Workloads {
			if w.Kind == DaemonSet && w.Class == footprint.Accelerated {
				out = append(out, operand{c.Name, w})
			}
		}
	}
	slices.SortFunc(out, func(a, b operand) int {
		return cmp.Or(cmp.Compare(a.component, b.component), cmp.Compare(a.Name, b.Name))
	})
	return out
}

// freed is a system node that the copy is put on and the selector of w kept it off.
func (b builder) freed(c *Scenario, w, copied footprint.Workload) (node string, ok bool) {
	for _, n := range c.Own(footprint.System) {
		labels := Settled(n, b.components)
		_, tainted := Untolerated(copied, n.Taints)
		if !tainted && !Selects(w.Pod, n.Name, labels) {
			return n.Name, true
		}
	}
	return "", false
}
