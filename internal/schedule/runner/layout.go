package runner

import (
	"fmt"
	"slices"

	"github.com/firstlight/firstlight/internal/recipe/footprint"
	"github.com/firstlight/firstlight/internal/schedule/scenario"
	"github.com/firstlight/firstlight/internal/schedule/snapshot"
)

// Kinds of workloads.
const (
	// deployment is a ReplicaSet on the control plane: see replicaSet.
	deployment  = "Deployment"
	statefulSet = "StatefulSet"
	daemonSet   = scenario.DaemonSet
	job         = "Job"
	// bare pods have no controller. Controls and gangs use them: they test the scheduler, and
	// controllers would only add cost.
	bare = "Pod"
)

// layout holds the objects of a scenario on the control plane.
type layout struct {
	id         string
	scenario   scenario.Scenario
	namespaces namespaces
	// components in deployment order, controls in the scenario's order.
	components []*workload
	probe      *workload
	controls   []*workload
	// workloads created so far by label, including barriers.
	workloads map[string]*workload
}

// workload is one workload.
type workload struct {
	// key is the value of its label; component is the recipe's, or an owner of package
	// snapshot.
	key, component string
	spec           footprint.Workload
	// namespace on the control plane.
	namespace string
	// nodes that its pods are restricted to, by name on the control plane; round, if set, is
	// the required version of the node.
	nodes []string
	round string
	gang  bool
	// own reports that nodes are all of the recipe's own nodes.
	own bool
	// rejected is why the API server rejected it.
	rejected string
}

func (w *workload) String() string {
	return fmt.Sprintf("%s %s of %s", w.spec.Kind, w.spec.Name, w.component)
}

func newLayout(id string, c scenario.Scenario) *layout {
	l := &layout{id: id, scenario: c, namespaces: namespaces{id: id}, workloads: map[string]*workload{}}
	var own []string
	for _, n := range c.Nodes {
		if n.Control == "" {
			own = append(own, prefixed(id, n.Name))
		}
	}
	for _, component := range c.Components {
		for _, w := range component.Workloads {
			l.components = append(l.components, &workload{
				key: fmt.Sprintf("w%d", len(l.components)), component: component.Name, spec: w,
				namespace: l.namespaces.add(w.Namespace), nodes: own, own: true,
			})
		}
	}
	l.probe = &workload{
		key: snapshot.OwnerProbe, component: snapshot.OwnerProbe, namespace: l.namespaces.add(defaultNamespace), nodes: own, gang: c.Probe.Kind == scenario.Gang,
		spec: footprint.Workload{Kind: deployment, Name: snapshot.OwnerProbe, Replicas: c.Probe.Size, Pod: c.Probe.Pod},
	}
	if l.probe.gang {
		l.probe.spec.Kind = bare
	}
	for _, control := range c.Controls {
		if control.NotApplicable != "" {
			continue
		}
		w := &workload{
			key: snapshot.OwnerControl + "-" + control.Name, component: snapshot.OwnerControl, spec: control.Workload,
			namespace: l.namespaces.add(defaultNamespace), gang: control.Gang,
		}
		w.spec.Name = control.Name
		if w.spec.Kind == deployment {
			w.spec.Kind = bare
		}
		for _, n := range control.Nodes {
			w.nodes = append(w.nodes, prefixed(id, n))
		}
		w.own = slices.Equal(slices.Sorted(slices.Values(w.nodes)), slices.Sorted(slices.Values(own)))
		l.controls = append(l.controls, w)
	}
	return l
}

// barrier is the n-th barrier: a DaemonSet for one node at one round.
func (l *layout) barrier(n int, node, round string) *workload {
	name := fmt.Sprintf("%s-%d", snapshot.OwnerBarrier, n)
	return &workload{
		key: name, component: snapshot.OwnerBarrier, namespace: l.namespaces.add(defaultNamespace), nodes: []string{node}, round: round,
		spec: footprint.Workload{Kind: daemonSet, Name: name, Pod: footprint.Pod{Tolerations: tolerateAll}},
	}
}

// isBarrier reports whether a label is a barrier's.
func (l *layout) isBarrier(key string) bool {
	w, ok := l.workloads[key]
	return ok && w.component == snapshot.OwnerBarrier
}

// localName is a node's name within the scenario.
func (l *layout) localName(node string) string {
	if node == "" {
		return ""
	}
	return node[min(len(node), len(l.id)+1):]
}

// kinds lists the kinds of all accepted workloads.
func (l *layout) kinds() []string {
	var out []string
	for _, w := range l.workloads {
		if w.rejected == "" && !slices.Contains(out, w.spec.Kind) {
			out = append(out, w.spec.Kind)
		}
	}
	slices.Sort(out)
	return out
}
