package judge

import (
	"slices"

	"github.com/firstlight/firstlight/internal/schedule/scenario"
	"github.com/firstlight/firstlight/internal/schedule/snapshot"
)

// view is what was seen, beside what has to be there, with what was found so far.
type view struct {
	*plan
	state     snapshot.State
	nodes     map[string]*snapshot.Node
	workloads map[owner][]*snapshot.Workload
	pods      map[owner][]*snapshot.Pod
	found     findings
	// unseen is what could not be seen: with nothing found it is no pass.
	unseen []string
	// passed is how many controls did not fail as they must.
	passed int
}

// owner is whom workloads and pods are of. Of probe and controls the kind is left
// out: what makes their pods is the arena's choice.
type owner struct{ component, kind, name string }

func ownerOf(component, kind, name string) owner {
	switch component {
	case snapshot.OwnerProbe:
		return owner{component: component}
	case snapshot.OwnerControl:
		return owner{component: component, name: name}
	default:
		return owner{component, kind, name}
	}
}

func newView(c scenario.Cell, s snapshot.State) *view {
	v := &view{
		plan: newPlan(c), state: s,
		nodes: map[string]*snapshot.Node{}, workloads: map[owner][]*snapshot.Workload{}, pods: map[owner][]*snapshot.Pod{},
	}
	for i := range s.Nodes {
		v.nodes[s.Nodes[i].Name] = &s.Nodes[i]
	}
	for i := range s.Workloads {
		w := &s.Workloads[i]
		o := ownerOf(w.Component, w.Kind, w.Name)
		v.workloads[o] = append(v.workloads[o], w)
	}
	for i := range s.Pods {
		p := &s.Pods[i]
		o := ownerOf(p.Component, p.Kind, p.Workload)
		v.pods[o] = append(v.pods[o], p)
	}
	return v
}

func (e Expected) owner() owner { return ownerOf(e.Component, e.Kind, e.Name) }

// podsOf are a workload's pods.
func (v *view) podsOf(e Expected) []*snapshot.Pod { return v.pods[e.owner()] }

// has are the labels that were seen on a node; those that it registers with where
// the node was not seen.
func (v *view) has(node string) map[string]string {
	if n := v.nodes[node]; n != nil {
		return n.Labels
	}
	n, _ := v.node(node)
	return n.Labels
}

// runs says whether a workload has a pod on a node, where a kubelet would run it.
func (v *view) runs(e Expected, node string) bool {
	return slices.ContainsFunc(v.podsOf(e), func(p *snapshot.Pod) bool { return p.Node == node && up(p) })
}

// up says whether a pod that is bound is as it has to be: not at its end, unless it is
// a Job's that succeeded. Without kubelets none begins: its phase stays Pending.
func up(p *snapshot.Pod) bool {
	return p.Phase == "Pending" || p.Phase == "Running" || p.Kind == "Job" && p.Phase == "Succeeded"
}

// waiting are those of a workload's pods that no node has taken.
func waiting(pods []*snapshot.Pod) []*snapshot.Pod {
	var out []*snapshot.Pod
	for _, p := range pods {
		if p.Node == "" {
			out = append(out, p)
		}
	}
	return out
}
