package scenariotest

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/firstlight/firstlight/internal/recipe/footprint"
	"github.com/firstlight/firstlight/internal/schedule/scenario"
	"github.com/firstlight/firstlight/internal/schedule/snapshot"
)

// others are how many nodes of other scenarios the scheduler passes over.
const others = 1000

// simulation is a minimal control plane. It computes the state of a scenario from the labels and
// taints as components add them, independent of the expected state.
type simulation struct {
	c     scenario.Scenario
	state snapshot.State
	nodes map[string]*snapshot.Node
	free  map[string]corev1.ResourceList
}

// Simulate is the snapshot of a scenario on a control plane without defects.
func Simulate(c scenario.Scenario) snapshot.State {
	s := simulation{c: c, nodes: map[string]*snapshot.Node{}, free: map[string]corev1.ResourceList{}}
	s.state = snapshot.State{Recipe: c.Recipe, Converged: true, ResourceVersion: "4711"}
	for _, n := range c.Nodes {
		labels := maps.Clone(n.Labels)
		labels[corev1.LabelHostname] = "c017-" + n.Name
		s.state.Nodes = append(s.state.Nodes, snapshot.Node{Name: n.Name, Ready: true, Labels: labels, Taints: slices.Clone(n.Taints), Allocatable: n.Allocatable.DeepCopy()})
	}
	for i := range s.state.Nodes {
		s.nodes[s.state.Nodes[i].Name] = &s.state.Nodes[i]
	}
	for s.discover() {
	}
	for _, n := range s.state.Nodes {
		s.free[n.Name] = n.Allocatable.DeepCopy()
	}
	for _, component := range c.Components {
		for _, w := range component.Workloads {
			s.run(component.Name, w, s.own(), false)
		}
	}
	p := c.Probe
	s.run(snapshot.OwnerProbe, footprint.Workload{Kind: "Deployment", Name: "probe", Replicas: p.Size, Pod: p.Pod}, s.own(), p.Kind == scenario.Gang)
	for _, control := range c.Controls {
		if control.NotApplicable == "" {
			s.run(snapshot.OwnerControl, control.Workload, control.Nodes, control.Gang)
		}
	}
	s.state.Workloads = append(s.state.Workloads, snapshot.Workload{Component: snapshot.OwnerBarrier, Kind: scenario.DaemonSet, Name: "barrier", Generation: 1, ObservedGeneration: 1})
	s.state.Pods = append(s.state.Pods, snapshot.Pod{Component: snapshot.OwnerBarrier, Kind: scenario.DaemonSet, Workload: "barrier", Name: "barrier-x", Node: "gpu-0", Phase: "Pending"})
	return s.state
}

func (s *simulation) own() []string {
	var out []string
	for _, n := range s.c.Own(footprint.Any) {
		out = append(out, n.Name)
	}
	return out
}

func (s *simulation) covers(w footprint.Workload, node string) bool {
	n := s.nodes[node]
	_, tainted := scenario.Untolerated(w, n.Taints)
	return w.Kind == scenario.DaemonSet && !tainted && scenario.Selects(w.Pod, node, n.Labels)
}

// discover is one round of labels and devices; it says whether anything came.
func (s *simulation) discover() bool {
	came := false
	put := func(n *snapshot.Node, labels map[string]string) {
		for k, v := range labels {
			if n.Labels[k] != v {
				n.Labels[k], came = v, true
			}
		}
	}
	for _, n := range s.c.Own(footprint.Any) {
		for _, component := range s.c.Components {
			waits := false
			var brings []string
			for _, w := range component.Workloads {
				if w.Discovers && s.covers(w, n.Name) {
					put(s.nodes[n.Name], n.Discovered[component.Name])
				}
				if w.Class == footprint.Accelerated && s.covers(w, n.Name) {
					brings = append(brings, w.Brings...)
				} else if w.Class == footprint.Accelerated {
					waits = waits || scenario.Wants(w, n, s.nodes[n.Name].Labels)
				}
			}
			for _, p := range component.Publishes {
				if scenario.Has(s.nodes[n.Name].Labels, p.OnNodesWith) {
					put(s.nodes[n.Name], p.Labels)
				}
			}
			for _, g := range n.Grants {
				if _, there := s.nodes[n.Name].Allocatable[g.Resource]; !waits && !there && g.Component == component.Name && slices.Contains(brings, string(g.Resource)) {
					s.nodes[n.Name].Allocatable[g.Resource], came = *resource.NewQuantity(g.Quantity, resource.DecimalSI), true
				}
			}
		}
	}
	return came
}

func (s *simulation) run(component string, w footprint.Workload, nodes []string, gang bool) {
	account := snapshot.Workload{Component: component, Kind: w.Kind, Name: w.Name, Generation: 1, ObservedGeneration: 1}
	first := len(s.state.Pods)
	if w.Kind == scenario.DaemonSet {
		for _, node := range nodes {
			if s.covers(w, node) {
				s.pod(component, w, []string{node})
			}
		}
	} else {
		for range w.Replicas {
			s.pod(component, w, nodes)
		}
	}
	pods := s.state.Pods[first:]
	if gang {
		s.gang(component, w.Name, pods)
	}
	for range pods {
		account.Desired++
		account.Made++
	}
	s.state.Workloads = append(s.state.Workloads, account)
}

// gang takes back what was bound where not all were.
func (s *simulation) gang(owner, name string, pods []snapshot.Pod) {
	g := snapshot.Gang{Owner: owner, Name: name, Scheduled: "True", Reason: "Scheduled"}
	if slices.ContainsFunc(pods, func(p snapshot.Pod) bool { return p.Node == "" }) {
		g.Scheduled, g.Reason = "False", "Unschedulable"
		for i := range pods {
			if pods[i].Node != "" {
				pods[i].Node, pods[i].Reason = "", "Unschedulable"
				pods[i].Message = "pod group is unschedulable, waiting for minCount pods from a gang to be scheduled, one or more plugins asked to wait and no plugin rejected pod"
			}
		}
	}
	s.state.Gangs = append(s.state.Gangs, g)
}

func (s *simulation) pod(component string, w footprint.Workload, nodes []string) {
	p := snapshot.Pod{Component: component, Workload: w.Name, Kind: w.Kind, Name: fmt.Sprintf("%s-%d", w.Name, len(s.state.Pods)), Phase: "Pending"}
	reasons := map[string]int{}
	for _, node := range nodes {
		why := s.rejectionReason(w, node)
		if len(why) == 0 {
			p.Node = node
			for name, q := range w.Pod.Requests {
				left := s.free[node][name]
				left.Sub(q)
				s.free[node][name] = left
			}
			s.state.Pods = append(s.state.Pods, p)
			return
		}
		for _, r := range why {
			reasons[r]++
		}
	}
	p.Reason = "Unschedulable"
	list := []string{fmt.Sprintf("%d node(s) didn't satisfy plugin(s) [NodeAffinity]", others+len(s.nodes)-len(nodes))}
	for _, r := range slices.Sorted(maps.Keys(reasons)) {
		list = append(list, fmt.Sprintf("%d %s", reasons[r], r))
	}
	n := others + len(s.nodes)
	p.Message = fmt.Sprintf("0/%d nodes are available: %s. no new claims to deallocate, preemption: 0/%d nodes are available: %d Preemption is not helpful for scheduling.", n, strings.Join(list, ", "), n, n)
	s.state.Pods = append(s.state.Pods, p)
}

// refuses are the scheduler's reasons of one node, in the order of its plugins.
func (s *simulation) rejectionReason(w footprint.Workload, node string) []string {
	n := s.nodes[node]
	if _, tainted := scenario.Untolerated(w, n.Taints); tainted {
		return []string{"node(s) had untolerated taint(s)"}
	}
	if !scenario.Selects(w.Pod, node, n.Labels) {
		return []string{"node(s) didn't match Pod's node affinity/selector"}
	}
	var out []string
	for _, name := range slices.Sorted(maps.Keys(w.Pod.Requests)) {
		q, free := w.Pod.Requests[name], s.free[node][name]
		if free.Cmp(q) < 0 {
			out = append(out, "Insufficient "+string(name))
		}
	}
	return out
}
