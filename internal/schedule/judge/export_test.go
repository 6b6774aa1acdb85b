package judge

import (
	"slices"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/schedule/scenario"
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

func (p *plan) find(component, name, kind string) (expected, bool) {
	i := slices.IndexFunc(p.expected, func(e expected) bool { return e.Component == component && e.Name == name && e.Kind == kind })
	if i < 0 {
		return expected{}, false
	}
	return p.expected[i], true
}
