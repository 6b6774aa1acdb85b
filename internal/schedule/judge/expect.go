package judge

import (
	"cmp"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/recipe/footprint"
	"github.com/firstlight/firstlight/internal/schedule/scenario"
	"github.com/firstlight/firstlight/internal/schedule/snapshot"
)

// Expectation is what has to be there when a recipe is right, and what of the
// recipe can be seen to be wrong before anything is scheduled.
type Expectation struct {
	// Labels are those that each node ends up with.
	Labels map[string]map[string]string `json:"labels"`
	// Workloads of components, in order, and the probe last.
	Workloads []Expected `json:"workloads"`
	// Flaws are of the recipe itself: taints that are not tolerated, selectors that
	// choose nothing, or nodes of the wrong class.
	Flaws []check.Finding `json:"flaws,omitempty"`
}

// Expected is one workload's pods.
type Expected struct {
	Component string          `json:"component"`
	Kind      string          `json:"kind"`
	Name      string          `json:"name"`
	Class     footprint.Class `json:"class"`
	// Nodes of a DaemonSet are exactly those that it covers; others may be on any of them.
	Nodes []string `json:"nodes"`
	Pods  int      `json:"pods"`
}

// Expect is the oracle. A DaemonSet has to cover the nodes that its selector
// chooses by the labels that discovery brings, tainted or not: a taint that it does
// not tolerate is a hole, unless it keeps system pods off GPU nodes. Of pods for GPU
// nodes only GPU nodes may be chosen, of system pods only system nodes.
func Expect(c scenario.Cell) Expectation {
	p := newPlan(c)
	e := Expectation{Labels: p.labels}
	for _, w := range p.expected {
		e.Workloads = append(e.Workloads, w.Expected)
	}
	for _, f := range p.flaws {
		e.Flaws = append(e.Flaws, f.finding())
	}
	return e
}

// plan is the oracle's working.
type plan struct {
	cell     scenario.Cell
	labels   map[string]map[string]string
	expected []expected
	flaws    []cause
}

// expected is a workload with what it is of.
type expected struct {
	Expected
	workload footprint.Workload
}

// id is how a workload is called in findings.
func (e Expected) id() string { return e.Component + "/" + e.Name }

func newPlan(c scenario.Cell) *plan {
	p := &plan{cell: c, labels: map[string]map[string]string{}}
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
	probe := p.cell.Probe
	w := footprint.Workload{Kind: probe.Kind, Name: probe.Kind, Class: footprint.Accelerated, Replicas: probe.Size, Pod: probe.Pod}
	e := expected{Expected{Component: snapshot.OwnerProbe, Kind: w.Kind, Name: w.Name, Class: w.Class, Pods: int(probe.Size)}, w}
	p.replicas(&e)
	return e
}

func (p *plan) daemonSet(e *expected) {
	var off []string
	holes := map[corev1.Taint][]string{}
	for _, n := range p.cell.Own(footprint.Any) {
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
		p.flaws = append(p.flaws, p.hole(*e, taint, holes[taint]))
	}
	if len(off) > 0 {
		p.flaws = append(p.flaws, p.offClass(*e, off))
	}
	if len(e.Nodes) == 0 && len(off) == 0 {
		p.flaws = append(p.flaws, p.nowhere(*e))
	}
}

// replicas may be on any node of their class that takes them; that they could be
// on one of another class is a flaw even where the scheduler happens to choose well.
func (p *plan) replicas(e *expected) {
	var off []string
	for _, n := range p.cell.Own(footprint.Any) {
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
		p.flaws = append(p.flaws, p.offClass(*e, off))
	}
	if len(e.Nodes) == 0 && len(off) == 0 {
		p.flaws = append(p.flaws, p.nowhere(*e))
	}
}

// allowed says whether pods of a class may be on a node.
func allowed(class footprint.Class, n scenario.Node) bool {
	return n.Control == "" && (class == footprint.Any || class == n.Class)
}

// find is an expected workload.
func (p *plan) find(component, name, kind string) (expected, bool) {
	i := slices.IndexFunc(p.expected, func(e expected) bool { return e.Component == component && e.Name == name && e.Kind == kind })
	if i < 0 {
		return expected{}, false
	}
	return p.expected[i], true
}
