package gpustack

import (
	"fmt"
	"slices"
	"strings"

	"github.com/firstlight/firstlight/internal/check"
)

// reconciled is the only reason under which the operator has done its work.
const reconciled = "Reconciled"

func (g *Gate) judgePolicy(c *conclusions, o check.Observation, p policyFigures) {
	suspect := "ClusterPolicy " + g.stack.ClusterPolicy
	if !p.Found {
		c.fail(o, suspect, "does not exist", "install the GPU Operator, or name its ClusterPolicy in gpustack.clusterPolicy")
		return
	}
	ready := slices.IndexFunc(p.Conditions, func(c policyCondition) bool { return c.Type == "Ready" })
	if ready < 0 {
		c.fail(o, suspect, fmt.Sprintf("state is %q and there is no Ready condition", p.State), "look at the log of the gpu-operator pod in "+g.stack.Namespace)
		return
	}
	r := p.Conditions[ready]
	switch {
	case r.Reason == "NoGPUNodes", r.Reason == "NFDLabelsMissing":
		c.fail(o, suspect, fmt.Sprintf("state is %q with reason %s (%s): the operator sees none of the inventory's %d GPU nodes", p.State, r.Reason, r.Message, len(g.nodes)),
			"see that node-feature-discovery runs on every GPU node and labels it feature.node.kubernetes.io/pci-10de.present=true")
	case r.Status != "True" || r.Reason != reconciled || p.State != "ready":
		c.fail(o, suspect, fmt.Sprintf("state is %q, Ready=%s with reason %s: %s", p.State, r.Status, r.Reason, p.complaint(r)),
			"look at the pods of the states that are named, in namespace "+g.stack.Namespace)
	case r.ObservedGeneration == 0: // optional, and the operator leaves it out
		c.remark = "; of which generation of the ClusterPolicy that is, its Ready condition does not say"
	case r.ObservedGeneration != p.Generation:
		c.fail(o, suspect, fmt.Sprintf("its Ready condition is of generation %d, the policy is of generation %d", r.ObservedGeneration, p.Generation),
			"wait until the operator has reconciled the change, then run the gate again")
	}
}

// complaint is what the Error condition says, or the Ready condition where there is none.
func (p policyFigures) complaint(ready policyCondition) string {
	for _, c := range p.Conditions {
		if c.Type == "Error" && c.Status == "True" {
			return strings.TrimSpace(c.Reason + ": " + c.Message)
		}
	}
	return ready.Message
}
