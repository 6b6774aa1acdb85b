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

// judgeNodes compares nodes with their shapes.
func (v *view) judgeNodes() {
	for _, n := range v.scenario.Nodes {
		s := v.nodes[n.Name]
		if s == nil {
			v.addNodeFinding(n, "not found", "run the test again; if it persists, see in the evidence what the API server rejected")
			continue
		}
		if !s.Ready {
			v.addNodeFinding(n, "is not Ready", "run the test again; if it persists, find out which client updates the nodes' status")
		}
		if got, want := taints(s.Taints), taints(n.Taints); got != want {
			v.addNodeFinding(n, fmt.Sprintf("has the taints %s, want %s", got, want), "run the test again; if it persists, find out which client taints nodes")
		}
		v.judgeLabels(n, s)
		for _, name := range slices.Sorted(maps.Keys(n.Allocatable)) {
			want, got := n.Allocatable[name], s.Allocatable[name]
			if got.Cmp(want) != 0 {
				v.addNodeFinding(n, fmt.Sprintf("has %s %s, want %s", got.String(), name, want.String()), "run the test again; if it persists, find out which client updates the nodes' status")
			}
		}
	}
	times := map[string]int{}
	for _, s := range v.state.Nodes {
		times[s.Name]++
		if _, ours := v.node(s.Name); !ours || times[s.Name] > 1 {
			v.found.add(cause{
				key: s.Name + " stranger", suspect: "node " + s.Name, message: "is not a node of the recipe",
				remedy: "run the test again; if it persists, find out which client creates nodes",
			})
		}
	}
}

// addNodeFinding adds a finding about one node.
func (v *view) addNodeFinding(n scenario.Node, message, remedy string) {
	v.found.add(cause{key: n.Name + " " + message, suspect: "node " + n.Name, message: fmt.Sprintf("%s (profile %s)", message, v.profile(n.Name)), remedy: remedy})
}

// judgeLabels requires the labels of the profile and the discovered labels.
func (v *view) judgeLabels(n scenario.Node, s *snapshot.Node) {
	for _, k := range slices.Sorted(maps.Keys(n.Labels)) {
		if got, ok := s.Labels[k]; !ok || got != n.Labels[k] {
			v.addNodeFinding(n, fmt.Sprintf("has %s=%q, want %q", k, got, n.Labels[k]), "run the test again; if it persists, find out which client changes labels")
		}
	}
	for _, k := range slices.Sorted(maps.Keys(v.labels[n.Name])) {
		if _, own := n.Labels[k]; own {
			continue
		}
		if _, there := s.Labels[k]; there {
			continue
		}
		if c, ok := v.findLabelCause(n.Name, k, []string{v.labels[n.Name][k]}, visited{}); ok {
			v.found.add(c)
			continue
		}
		v.addNodeFinding(n, "lacks the label "+k, "run the test again; if it persists, see in the evidence which client changes labels")
	}
}

// judgeGrants requires every extended resource in full quantity.
func (v *view) judgeGrants() {
	type missing struct {
		cause
		suspect string
		scenario.Grant
		nodes []string
	}
	var found []*missing
	for _, n := range v.scenario.Nodes {
		for _, g := range n.Grants {
			s := v.nodes[n.Name]
			switch got := allocatable(s, g.Resource); {
			case s == nil || got == g.Quantity:
			case got == 0:
				m := &missing{cause: v.whyNotGranted(n, g, visited{}), suspect: g.Component + "/" + string(g.Resource), Grant: g}
				if i := slices.IndexFunc(found, func(o *missing) bool { return o.key == m.key && o.Grant == m.Grant }); i >= 0 {
					m = found[i]
				} else {
					found = append(found, m)
				}
				m.nodes = append(m.nodes, n.Name)
			default:
				v.addNodeFinding(n, fmt.Sprintf("has %d %s, want %d", got, g.Resource, g.Quantity), "run the test again; if it persists, find out which client updates the nodes' status")
			}
		}
	}
	for _, m := range found {
		v.found.addFollowing(m.cause, m.suspect, "%d %s expected from %[4]s have not appeared on %[3]s", m.Quantity, m.Resource, v.at(m.nodes), m.Component)
	}
}

func allocatable(n *snapshot.Node, name corev1.ResourceName) int64 {
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
