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
	// bare are pods that no controller makes. Controls and gangs are such: what they
	// ask is asked of the scheduler, and controllers would only add to what it costs.
	bare = "Pod"
)

// layout is what a cell is made of on the control plane.
type layout struct {
	id       string
	scenario scenario.Scenario
	spaces   namespaces
	// components are in deployment order, controls in the cell's.
	components []*work
	probe      *work
	controls   []*work
	// works are all that were made so far, by their label; the barriers among them.
	works map[string]*work
}

// work is one workload.
type work struct {
	// of is the value of its label; component is the recipe's, or an owner of package seen.
	of, component string
	spec          footprint.Workload
	// namespace on the control plane.
	namespace string
	// nodes that its pods are held to, by their names on the control plane; turn, when
	// set, is the version of them that is asked for.
	nodes []string
	turn  string
	gang  bool
	// own: these are all of the recipe's own.
	own bool
	// refused is why the API server did not take it.
	refused string
}

func (w *work) String() string {
	return fmt.Sprintf("%s %s of %s", w.spec.Kind, w.spec.Name, w.component)
}

func newLayout(id string, c scenario.Scenario) *layout {
	l := &layout{id: id, scenario: c, spaces: namespaces{id: id}, works: map[string]*work{}}
	var own []string
	for _, n := range c.Nodes {
		if n.Control == "" {
			own = append(own, prefixed(id, n.Name))
		}
	}
	for _, component := range c.Components {
		for _, w := range component.Workloads {
			l.components = append(l.components, &work{
				of: fmt.Sprintf("w%d", len(l.components)), component: component.Name, spec: w,
				namespace: l.spaces.add(w.Namespace), nodes: own, own: true,
			})
		}
	}
	l.probe = &work{
		of: snapshot.OwnerProbe, component: snapshot.OwnerProbe, namespace: l.spaces.add(home), nodes: own, gang: c.Probe.Kind == scenario.Gang,
		spec: footprint.Workload{Kind: deployment, Name: snapshot.OwnerProbe, Replicas: c.Probe.Size, Pod: c.Probe.Pod},
	}
	if l.probe.gang {
		l.probe.spec.Kind = bare
	}
	for _, control := range c.Controls {
		if control.NotApplicable != "" {
			continue
		}
		w := &work{
			of: snapshot.OwnerControl + "-" + control.Name, component: snapshot.OwnerControl, spec: control.Workload,
			namespace: l.spaces.add(home), gang: control.Gang,
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

// barrier is the n-th: it has a pod where the node has had its turn.
func (l *layout) barrier(n int, node, turn string) *work {
	name := fmt.Sprintf("%s-%d", snapshot.OwnerBarrier, n)
	return &work{
		of: name, component: snapshot.OwnerBarrier, namespace: l.spaces.add(home), nodes: []string{node}, turn: turn,
		spec: footprint.Workload{Kind: daemonSet, Name: name, Pod: footprint.Pod{Tolerations: everything}},
	}
}

// isBarrier says whether a label is a barrier's.
func (l *layout) isBarrier(of string) bool {
	w, ok := l.works[of]
	return ok && w.component == snapshot.OwnerBarrier
}

// local is a node's name within the cell.
func (l *layout) local(node string) string {
	if node == "" {
		return ""
	}
	return node[min(len(node), len(l.id)+1):]
}

// kinds are those of all workloads.
func (l *layout) kinds() []string {
	var out []string
	for _, w := range l.works {
		if w.refused == "" && !slices.Contains(out, w.spec.Kind) {
			out = append(out, w.spec.Kind)
		}
	}
	slices.Sort(out)
	return out
}
