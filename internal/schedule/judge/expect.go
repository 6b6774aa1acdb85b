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

// Expectation is the expected state of a correct recipe, and the defects that are visible
// before anything is scheduled.
type Expectation struct {
	// Labels that each node has after discovery, by node.
	Labels map[string]map[string]string `json:"labels"`
	// Workloads of the components in order, then the probe.
	Workloads []Expected `json:"workloads"`
	// Flaws of the recipe itself: taints that are not tolerated, selectors that match no
	// node or nodes of the wrong class.
	Flaws []check.Finding `json:"flaws,omitempty"`
}

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

// Expect computes the expected placement. A DaemonSet must cover the nodes that match its
// selector after discovery, tainted or not: a taint that it does not tolerate is a flaw,
// except one that keeps system pods off GPU nodes. Pods for GPU nodes may select only GPU
// nodes, system pods only system nodes.
func Expect(c scenario.Scenario) Expectation {
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

func (p *plan) find(component, name, kind string) (expected, bool) {
	i := slices.IndexFunc(p.expected, func(e expected) bool { return e.Component == component && e.Name == name && e.Kind == kind })
	if i < 0 {
		return expected{}, false
	}
	return p.expected[i], true
}
