package gpustack

import (
	"slices"
	"strings"

	"github.com/firstlight/firstlight/internal/check"
)

// reconciled is the reason of the operator's Ready condition after a complete reconciliation.
const reconciled = "Reconciled"

func (g *Gate) judgePolicy(b *check.Builder, o check.Observation, p policyFigures) (remark string) {
	kind, name := g.stack.Policy()
	suspect := kind + " " + name
	if !p.Found {
		b.Fail(o.ID, suspect, "install the GPU Operator, or name its ClusterPolicy in gpustack.clusterPolicy, or its GPUCluster in gpustack.gpuCluster", "does not exist")
		return ""
	}
	ready := slices.IndexFunc(p.Conditions, func(c policyCondition) bool { return c.Type == "Ready" })
	if ready < 0 {
		b.Fail(o.ID, suspect, "read the log of the gpu-operator pod in "+g.stack.Namespace, "state is %q, without a Ready condition", p.State)
		return ""
	}
	r := p.Conditions[ready]
	switch {
	case r.Reason == "NoGPUNodes", r.Reason == "NFDLabelsMissing":
		b.Fail(o.ID, suspect,
			"check that node-feature-discovery runs on every GPU node and labels it feature.node.kubernetes.io/pci-10de.present=true",
			"state is %q with reason %s (%s): the operator detects none of the inventory's %d GPU nodes",
			p.State, r.Reason, r.Message, len(g.nodes))
	case r.Status != "True" || r.Reason != reconciled || p.State != "ready":
		b.Fail(o.ID, suspect, "check the pods of the named states, in namespace "+g.stack.Namespace, "state is %q, Ready=%s with reason %s: %s", p.State, r.Status, r.Reason, p.complaint(r))
	case r.ObservedGeneration == 0: // optional; the operator omits it
		remark = "; the Ready condition has no observedGeneration, so the generation it describes is unknown"
	case r.ObservedGeneration != p.Generation:
		b.Fail(o.ID, suspect, "wait until the operator has reconciled the change, then run the gate again", "its Ready condition is of generation %d, the policy is of generation %d", r.ObservedGeneration, p.Generation)
	}
	return remark
}

// complaint is the message of the Error condition or, without one, of the Ready condition.
func (p policyFigures) complaint(ready policyCondition) string {
	for _, c := range p.Conditions {
		if c.Type == "Error" && c.Status == "True" {
			return strings.TrimSpace(c.Reason + ": " + c.Message)
		}
	}
	return ready.Message
}
