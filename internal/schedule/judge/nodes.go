package judge

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/firstlight/firstlight/internal/schedule/scenario"
	"github.com/firstlight/firstlight/internal/schedule/snapshot"
)

// judgeNodes holds nodes against their shapes: a test on other nodes is of another recipe.
func (v *view) judgeNodes() {
	for _, n := range v.cell.Nodes {
		s := v.nodes[n.Name]
		if s == nil {
			v.node1(n, "is not there", "run the test again; if it stays, what the API server refused is in the evidence")
			continue
		}
		if !s.Ready {
			v.node1(n, "is not Ready", "run the test again; if it stays, look for what changes the nodes' status")
		}
		if got, want := taints(s.Taints), taints(n.Taints); got != want {
			v.node1(n, fmt.Sprintf("has the taints %s, its profile has %s", got, want), "run the test again; if it stays, look for what taints nodes")
		}
		v.judgeLabels(n, s)
		for _, name := range slices.Sorted(maps.Keys(n.Allocatable)) {
			want, got := n.Allocatable[name], s.Allocatable[name]
			if got.Cmp(want) != 0 {
				v.node1(n, fmt.Sprintf("offers %s %s, its profile has %s", got.String(), name, want.String()), "run the test again; if it stays, look for what changes the nodes' status")
			}
		}
	}
	times := map[string]int{}
	for _, s := range v.state.Nodes {
		times[s.Name]++
		if _, ours := v.node(s.Name); !ours || times[s.Name] > 1 {
			v.found.add(cause{
				key: s.Name + " stranger", suspect: "node " + s.Name, message: "is there, and is none of the recipe's nodes",
				remedy: "run the test again; if it stays, look for what makes nodes",
			})
		}
	}
}

// node1 is something wrong with one node.
func (v *view) node1(n scenario.Node, message, remedy string) {
	v.found.add(cause{key: n.Name + " " + message, suspect: "node " + n.Name, message: fmt.Sprintf("%s (profile %s)", message, v.profile(n.Name)), remedy: remedy})
}

// judgeLabels: those that it registers with are there, and those that are discovered
// are there or are somebody's fault.
func (v *view) judgeLabels(n scenario.Node, s *snapshot.Node) {
	for _, k := range slices.Sorted(maps.Keys(n.Labels)) {
		if got, ok := s.Labels[k]; !ok || got != n.Labels[k] {
			v.node1(n, fmt.Sprintf("has %s=%q, its profile has %q", k, got, n.Labels[k]), "run the test again; if it stays, look for what changes labels")
		}
	}
	for _, k := range slices.Sorted(maps.Keys(v.labels[n.Name])) {
		if _, own := n.Labels[k]; own {
			continue
		}
		if _, there := s.Labels[k]; there {
			continue
		}
		if c, ok := v.whyNoLabel(n.Name, k, []string{v.labels[n.Name][k]}, way{}); ok {
			v.found.add(c)
			continue
		}
		v.node1(n, "has not got the label "+k, "run the test again; if it stays, what changed labels in the test is in the evidence")
	}
}

// judgeGrants: every extended resource has appeared, and in full.
func (v *view) judgeGrants() {
	type missing struct {
		cause
		suspect string
		scenario.Grant
		nodes []string
	}
	var found []*missing
	for _, n := range v.cell.Nodes {
		for _, g := range n.Grants {
			s := v.nodes[n.Name]
			switch got := granted(s, g.Resource); {
			case s == nil || got == g.Quantity:
			case got == 0:
				m := &missing{cause: v.whyNotGranted(n, g, way{}), suspect: g.Component + "/" + string(g.Resource), Grant: g}
				if i := slices.IndexFunc(found, func(o *missing) bool { return o.key == m.key && o.Grant == m.Grant }); i >= 0 {
					m = found[i]
				} else {
					found = append(found, m)
				}
				m.nodes = append(m.nodes, n.Name)
			default:
				v.node1(n, fmt.Sprintf("offers %d %s, its profile has %d", got, g.Resource, g.Quantity), "run the test again; if it stays, look for what changes the nodes' status")
			}
		}
	}
	for _, m := range found {
		v.found.because(m.cause, m.suspect, "%d %s have not appeared on %s, and were to come from %s", m.Quantity, m.Resource, v.at(m.nodes), m.Component)
	}
}

func granted(n *snapshot.Node, name corev1.ResourceName) int64 {
	if n == nil {
		return 0
	}
	q := n.Allocatable[name]
	return q.Value()
}

func taints(list []corev1.Taint) string {
	if len(list) == 0 {
		return "none"
	}
	var out []string
	for _, t := range list {
		out = append(out, t.ToString())
	}
	slices.Sort(out)
	return strings.Join(out, ", ")
}
