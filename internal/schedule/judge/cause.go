package judge

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/recipe/footprint"
	"github.com/firstlight/firstlight/internal/schedule/scenario"
	"github.com/firstlight/firstlight/internal/schedule/snapshot"
)

// cause is a problem with no other observed cause.
type cause struct {
	// key identifies the cause, which may be found in several ways.
	key                      string
	suspect, message, remedy string
	// of is the node property that causes it, which may affect other workloads.
	of trait
}

func (c cause) finding() check.Finding {
	return check.Finding{Suspect: c.suspect, Message: c.message, Remedy: c.remedy}
}

// uncoveredTaint: nodes that a DaemonSet must cover have a taint that it does not tolerate.
func (p *plan) uncoveredTaint(e expected, taint corev1.Taint, nodes []string) cause {
	return cause{
		key: e.id() + " tolerates " + taint.ToString(), suspect: e.id(),
		message: fmt.Sprintf("does not tolerate the taint %s of %s, which it must cover", taint.ToString(), p.at(nodes)),
		remedy:  "let it tolerate the taint: " + p.setRemedy(e, "tolerations"),
		of:      trait{p.profile(nodes[0]), "have the taint " + taint.ToString()},
	}
}

// wrongClass: pods can be placed on nodes of another class.
func (p *plan) wrongClass(e expected, nodes []string) cause {
	c := cause{key: e.id() + " off its class", suspect: e.id()}
	if e.Kind == "DaemonSet" {
		c.message = fmt.Sprintf("selects %s, but its pods are of class %s", p.at(nodes), e.Class)
	} else {
		c.message = fmt.Sprintf("can be scheduled on %s, but its pods are of class %s: no selector or taint prevents it", p.at(nodes), e.Class)
	}
	c.remedy = fmt.Sprintf("let it select %s nodes only: %s", e.Class, p.setRemedy(e, "node selector"))
	return c
}

// noMatchingNode: the pods select no node, or no node accepts them.
func (p *plan) noMatchingNode(e expected) cause {
	c := cause{key: e.id() + " nowhere", suspect: e.id(), remedy: p.placementRemedy(e), of: p.traitOf(e)}
	verb := "fits"
	if e.Kind == "DaemonSet" {
		verb = "selects"
	}
	c.message = fmt.Sprintf("%s no node of the recipe: %s", verb, p.rejectionsByClass(e))
	return c
}

// placementRemedy is the remedy for pods that fit no node of their class.
func (p *plan) placementRemedy(e expected) string {
	for _, n := range p.scenario.Own(e.Class) {
		_, tainted := scenario.Untolerated(e.workload, n.Taints)
		switch {
		case e.Component == snapshot.OwnerProbe:
			return fmt.Sprintf("correct the profile %s, or accelerators.yaml, which defines the probe's tolerations, selectors and requests", p.profile(n.Name))
		case len(mismatch(e.workload.Pod, n.Name, p.labels[n.Name])) > 0:
		case tainted:
			return "let it tolerate the taint: " + p.setRemedy(e, "tolerations")
		case len(p.neverOffers(n, e.workload.Pod)) > 0:
			return fmt.Sprintf("remove the request (%s), or add a component that provides it on the profile %s", fileOr(p.scenario.Advice[e.Component].Footprint), p.profile(n.Name))
		}
	}
	return "let it select existing nodes: " + p.setRemedy(e, "node selector")
}

// rejectionsByClass describes why the nodes of each class reject the pods.
func (p *plan) rejectionsByClass(e expected) string {
	var parts []string
	for _, class := range []footprint.Class{footprint.System, footprint.Accelerated} {
		if e.Class != footprint.Any && e.Class != class {
			continue
		}
		for _, n := range p.scenario.Own(class)[:min(1, len(p.scenario.Own(class)))] {
			parts = append(parts, fmt.Sprintf("%s %s", classNodes(class), p.rejectionReason(e, n.Name)))
		}
	}
	return strings.Join(parts, "; ")
}

// rejectionReason describes why a node with its settled labels rejects the pods.
func (p *plan) rejectionReason(e expected, node string) string {
	if unmet := mismatch(e.workload.Pod, node, p.labels[node]); len(unmet) > 0 {
		return "do not match " + describe(unmet)
	}
	if taint, tainted := p.untolerated(e, node); tainted {
		return "have the taint " + taint.ToString()
	}
	n, _ := p.node(node)
	if missing := p.neverOffers(n, e.workload.Pod); len(missing) > 0 {
		return fmt.Sprintf("never provide %s", missing[0])
	}
	return "would accept them"
}

// notSelected: a selector omits a node on which others wait for the workload.
func (p *plan) notSelected(e expected, node string, missing []unmet) cause {
	if len(e.Nodes) == 0 {
		return p.noMatchingNode(e)
	}
	n, _ := p.node(node)
	var nodes []string
	for _, other := range p.scenario.Own(n.Class) {
		if len(mismatch(e.workload.Pod, other.Name, p.labels[other.Name])) > 0 {
			nodes = append(nodes, other.Name)
		}
	}
	if len(nodes) == 0 {
		nodes = []string{node}
	}
	return cause{
		key: e.id() + " chooses others", suspect: e.id(),
		message: fmt.Sprintf("does not select %s, where others wait for it: they do not match %s", p.at(nodes), describe(missing)),
		remedy:  "let it select these nodes as well: " + p.setRemedy(e, "node selector"),
	}
}

// badPhase: a bound pod has a phase other than Pending or Running.
func badPhase(e expected, p *snapshot.Pod) cause {
	return cause{
		key: e.id() + " not up", suspect: e.id(), message: fmt.Sprintf("its pod %s on %s is %s", p.Name, p.Node, p.Phase),
		remedy: "read the pod's status in the evidence: no kubelet runs pods on simulated nodes, so none can finish",
	}
}
