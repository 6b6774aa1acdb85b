package gpustack

import (
	_ "embed" // the conditions
	"fmt"
	"maps"
	"path"
	"slices"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"github.com/firstlight/firstlight/internal/check"
)

//go:embed conditions.yaml
var conditionsFile []byte

// reportedCondition is a condition by which a monitor reports a defect of a node.
type reportedCondition struct {
	Type   string `json:"type"`
	Bad    string `json:"bad"`
	Source string `json:"source"`
	// NotObserved are patterns of the reasons with which the monitor has no data.
	NotObserved []string `json:"notObserved"`
}

var reportedConditions = sync.OnceValues(func() ([]reportedCondition, error) {
	var out []reportedCondition
	if err := yaml.UnmarshalStrict(conditionsFile, &out); err != nil {
		return nil, fmt.Errorf("read the conditions of monitors: %w", err)
	}
	return out, nil
})

func (r reportedCondition) matches(c corev1.NodeConditionType) bool {
	return matches(r.Type, string(c))
}

func (r reportedCondition) observed(c corev1.NodeCondition) bool {
	return c.Status != corev1.ConditionUnknown && !slices.ContainsFunc(r.NotObserved, func(pattern string) bool { return matches(pattern, c.Reason) })
}

func matches(pattern, name string) bool {
	ok, _ := path.Match(pattern, name) // an invalid pattern matches nothing
	return ok
}

// reported are the conditions of known monitors that are bad or unknown.
func reported(n *corev1.Node) map[string]conditionFigures {
	known, err := reportedConditions()
	if err != nil { // a file of this package, read by a test
		return nil
	}
	out := map[string]conditionFigures{}
	for _, c := range n.Status.Conditions {
		i := slices.IndexFunc(known, func(r reportedCondition) bool { return r.matches(c.Type) })
		if i >= 0 && (string(c.Status) == known[i].Bad || c.Status == corev1.ConditionUnknown) {
			out[string(c.Type)] = conditionFigures{Status: string(c.Status), Reason: c.Reason, Message: c.Message, NotObserved: !known[i].observed(c)}
		}
	}
	return out
}

// Defects are what the gate finds on a node that may be Ready: the conditions of monitors, and a driver whose upgrade
// is not done. observed is false if monitors without data are all that it finds.
func Defects(n *corev1.Node) (out []string, observed bool) {
	found := reported(n)
	for _, name := range slices.Sorted(maps.Keys(found)) {
		c := found[name]
		observed = observed || !c.NotObserved
		out = append(out, fmt.Sprintf("has condition %s (%s, %s: %s)", name, c.Status, c.Reason, c.Message))
	}
	if state := n.Labels[labelUpgrade]; state != "" && state != driverUpgraded {
		observed = true
		out = append(out, "the upgrade of its driver is in state "+state+" (label "+labelUpgrade+")")
	}
	return out, observed || len(out) == 0
}

// judgeReported requires that no monitor of the cluster reports a defect: a node with one may stay Ready.
func judgeReported(b *check.Builder, o check.Observation, n nodeFigures) {
	for _, name := range slices.Sorted(maps.Keys(n.Reported)) {
		c, remedy := n.Reported[name], "kubectl describe node "+n.Name+"; repair or replace the node; a monitor may keep the condition until its own pod restarts (node-problem-detector, EKS' node monitoring agent)"
		if c.NotObserved || c.Status == string(corev1.ConditionUnknown) {
			b.Unobserved(o.ID, n.Name, "look at the monitor of the node that writes the condition; EKS' node monitoring agent keeps it until its pod restarts", "condition %s is %s (%s: %s): the monitor has no data", name, c.Status, c.Reason, c.Message)
			continue
		}
		b.Fail(o.ID, n.Name, remedy, "has condition %s (%s, %s: %s)", name, c.Status, c.Reason, c.Message)
	}
}
