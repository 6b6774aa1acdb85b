package judge

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/firstlight/firstlight/internal/diag"
	"github.com/firstlight/firstlight/internal/recipe/footprint"
	"github.com/firstlight/firstlight/internal/schedule/scenario"
)

// unmet is a label requirement that a node does not meet.
type unmet struct {
	corev1.NodeSelectorRequirement
	// have is the label's value; there reports whether the node has the label.
	have  string
	there bool
	// near is the most similar label of the node.
	nearestPaths string
}

// mismatch lists the requirements of a pod's node selector and required affinity that a
// node does not meet. Of alternative terms it is the one with the fewest unmet.
func mismatch(p footprint.Pod, node string, labels map[string]string) []unmet {
	var out []unmet
	for _, k := range slices.Sorted(maps.Keys(p.NodeSelector)) {
		out = append(out, unmetRequirement(corev1.NodeSelectorRequirement{Key: k, Operator: corev1.NodeSelectorOpIn, Values: []string{p.NodeSelector[k]}}, node, labels)...)
	}
	if p.Affinity == nil || p.Affinity.NodeAffinity == nil || p.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution == nil {
		return out
	}
	var closest []unmet
	for i, term := range p.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms {
		var left []unmet
		for _, r := range term.MatchExpressions {
			left = append(left, unmetRequirement(r, node, labels)...)
		}
		if i == 0 || len(left) < len(closest) {
			closest = left
		}
	}
	return append(out, closest...)
}

// unmetRequirement returns the requirement if it is unmet.
func unmetRequirement(r corev1.NodeSelectorRequirement, node string, labels map[string]string) []unmet {
	alone := footprint.Pod{Affinity: &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{
		RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchExpressions: []corev1.NodeSelectorRequirement{r}}}},
	}}}
	if scenario.Selects(alone, node, labels) {
		return nil
	}
	u := unmet{NodeSelectorRequirement: r}
	if u.have, u.there = labels[r.Key]; !u.there {
		u.nearestPaths = diag.Nearest(r.Key, slices.Collect(maps.Keys(labels)))
	}
	return []unmet{u}
}

// wanted returns the label values that meet the requirement: nil and true for any value,
// false where no value of a missing label does.
func (u unmet) wanted() (values []string, label bool) {
	switch u.Operator {
	case corev1.NodeSelectorOpIn:
		return u.Values, true
	case corev1.NodeSelectorOpExists:
		return nil, true
	default:
		return nil, false
	}
}

func (u unmet) String() string {
	var want string
	switch u.Operator {
	case corev1.NodeSelectorOpIn:
		want = u.Key + "=" + strings.Join(u.Values, "|")
	case corev1.NodeSelectorOpExists:
		want = u.Key
	case corev1.NodeSelectorOpDoesNotExist:
		want = "no " + u.Key
	default:
		want = fmt.Sprintf("%s %s %s", u.Key, u.Operator, strings.Join(u.Values, "|"))
	}
	switch {
	case u.there:
		return fmt.Sprintf("%s (value %s)", want, u.have)
	case u.nearestPaths != "":
		return fmt.Sprintf("%s (no such label; similar: %s)", want, u.nearestPaths)
	default:
		return want + " (no such label)"
	}
}

// describe joins requirements, each once: a selector and an affinity may repeat one.
func describe(list []unmet) string {
	var parts []string
	for _, u := range list {
		if text := u.String(); !slices.Contains(parts, text) {
			parts = append(parts, text)
		}
	}
	return strings.Join(parts, ", ")
}
