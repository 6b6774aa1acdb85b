package judge

import (
	"cmp"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/firstlight/firstlight/internal/recipe/footprint"
	"github.com/firstlight/firstlight/internal/schedule/scenario"
	"github.com/firstlight/firstlight/internal/schedule/snapshot"
)

// Expected is the expected placement of one workload.
type Expected struct {
	Component string          `json:"component"`
	Kind      string          `json:"kind"`
	Name      string          `json:"name"`
	Class     footprint.Class `json:"class"`
	// Nodes of a DaemonSet get exactly one pod each; pods of other workloads may be on any
	// of them.
	Nodes []string `json:"nodes"`
	Pods  int      `json:"pods"`
}

// plan holds the expected placement with its inputs.
type plan struct {
	scenario scenario.Scenario
	labels   map[string]map[string]string
	expected []expected
	flaws    []cause
}

// expected adds the workload's spec.
type expected struct {
	Expected
	workload footprint.Workload
}

// id names a workload in findings.
func (e Expected) id() string { return e.Component + "/" + e.Name }

func newPlan(c scenario.Scenario) *plan {
	p := &plan{scenario: c, labels: map[string]map[string]string{}}
	for _, n := range c.Nodes {
		p.labels[n.Name] = scenario.Settled(n, c.Components)
	}
	for _, component := range c.Components {
		for _, w := range component.Workloads {
			e := expected{Expected{Component: component.Name, Kind: w.Kind, Name: w.Name, Class: w.Class, Pods: int(w.Replicas)}, w}
			if w.Kind == scenario.DaemonSet {
				p.daemonSet(&e)
			} else {
				p.replicas(&e)
			}
			p.expected = append(p.expected, e)
		}
	}
	p.expected = append(p.expected, p.probe())
	return p
}

func (p *plan) probe() expected {
	probe := p.scenario.Probe
	w := footprint.Workload{Kind: probe.Kind, Name: probe.Kind, Class: footprint.Accelerated, Replicas: probe.Size, Pod: probe.Pod}
	e := expected{Expected{Component: snapshot.OwnerProbe, Kind: w.Kind, Name: w.Name, Class: w.Class, Pods: int(probe.Size)}, w}
	p.replicas(&e)
	return e
}

func (p *plan) daemonSet(e *expected) {
	var off []string
	holes := map[corev1.Taint][]string{}
	for _, n := range p.scenario.Own(footprint.Any) {
		if !scenario.Wants(e.workload, n, p.labels[n.Name]) {
			continue
		}
		if !allowed(e.Class, n) {
			off = append(off, n.Name)
			continue
		}
		e.Nodes = append(e.Nodes, n.Name)
		if taint, tainted := scenario.Untolerated(e.workload, n.Taints); tainted {
			taint.TimeAdded = nil
			holes[taint] = append(holes[taint], n.Name)
		}
	}
	e.Pods = len(e.Nodes)
	for _, taint := range slices.SortedFunc(maps.Keys(holes), func(a, b corev1.Taint) int { return cmp.Compare(a.ToString(), b.ToString()) }) {
		p.flaws = append(p.flaws, p.uncoveredTaint(*e, taint, holes[taint]))
	}
	if len(off) > 0 {
		p.flaws = append(p.flaws, p.wrongClass(*e, off))
	}
	if len(e.Nodes) == 0 && len(off) == 0 {
		p.flaws = append(p.flaws, p.noMatchingNode(*e))
	}
}

// replicas may be on any node of their class that accepts them. Pods that fit a node of
// another class are a flaw even if the scheduler happens to avoid it.
func (p *plan) replicas(e *expected) {
	var off []string
	for _, n := range p.scenario.Own(footprint.Any) {
		_, tainted := scenario.Untolerated(e.workload, n.Taints)
		fits := !tainted && scenario.Selects(e.workload.Pod, n.Name, p.labels[n.Name]) && len(p.neverOffers(n, e.workload.Pod)) == 0
		switch {
		case fits && !allowed(e.Class, n):
			off = append(off, n.Name)
		case fits:
			e.Nodes = append(e.Nodes, n.Name)
		}
	}
	if len(off) > 0 {
		p.flaws = append(p.flaws, p.wrongClass(*e, off))
	}
	if len(e.Nodes) == 0 && len(off) == 0 {
		p.flaws = append(p.flaws, p.noMatchingNode(*e))
	}
}

// allowed reports whether pods of a class may be on a node.
func allowed(class footprint.Class, n scenario.Node) bool {
	return n.Control == "" && (class == footprint.Any || class == n.Class)
}
