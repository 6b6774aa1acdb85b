package judge

import (
	"slices"

	"github.com/firstlight/firstlight/internal/schedule/scenario"
	"github.com/firstlight/firstlight/internal/schedule/snapshot"
)

// view is a snapshot with its expected state and the findings so far.
type view struct {
	*plan
	state     snapshot.State
	nodes     map[string]*snapshot.Node
	workloads map[owner][]*snapshot.Workload
	pods      map[owner][]*snapshot.Pod
	found     findings
	// unobserved lists what could not be observed; without findings the verdict is unobserved.
	unobserved []string
	// controlsPassed is the number of controls that did not fail as required.
	controlsPassed int
}

// owner identifies the owner of workloads and pods. The kind is empty for probe and
// controls: the runner chooses it.
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

func newView(c scenario.Scenario, s snapshot.State) *view {
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

func (v *view) podsOf(e Expected) []*snapshot.Pod { return v.pods[e.owner()] }

// has returns the observed labels of a node, or its initial labels where it was not
// observed.
func (v *view) has(node string) map[string]string {
	if n := v.nodes[node]; n != nil {
		return n.Labels
	}
	n, _ := v.node(node)
	return n.Labels
}

// runs reports whether a workload has a pod on a node in a good phase.
func (v *view) runs(e Expected, node string) bool {
	return slices.ContainsFunc(v.podsOf(e), func(p *snapshot.Pod) bool { return p.Node == node && phaseOK(p) })
}

// phaseOK reports whether a bound pod has not ended, or is a succeeded pod of a Job.
// Without kubelets the phase stays Pending.
func phaseOK(p *snapshot.Pod) bool {
	return p.Phase == "Pending" || p.Phase == "Running" || p.Kind == "Job" && p.Phase == "Succeeded"
}

// waiting lists the unbound pods.
func waiting(pods []*snapshot.Pod) []*snapshot.Pod {
	var out []*snapshot.Pod
	for _, p := range pods {
		if p.Node == "" {
			out = append(out, p)
		}
	}
	return out
}
