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

// cause is something wrong that follows from nothing else that was seen.
type cause struct {
	// key tells causes apart: found on several ways it is one.
	key                      string
	suspect, message, remedy string
	// of is what of the nodes it is about, where other workloads may have the same.
	of trait
}

func (c cause) finding() check.Finding {
	return check.Finding{Suspect: c.suspect, Message: c.message, Remedy: c.remedy}
}

// hole is a taint on nodes that a DaemonSet has to cover.
func (p *plan) hole(e expected, taint corev1.Taint, nodes []string) cause {
	return cause{
		key: e.id() + " tolerates " + taint.ToString(), suspect: e.id(),
		message: fmt.Sprintf("does not tolerate the taint %s of %s, which it has to cover", taint.ToString(), p.at(nodes)),
		remedy:  "let it tolerate the taint: " + p.set(e, "tolerations"),
		of:      trait{p.profile(nodes[0]), "have the taint " + taint.ToString()},
	}
}

// offClass is that pods can be where they do not belong.
func (p *plan) offClass(e expected, nodes []string) cause {
	c := cause{key: e.id() + " off its class", suspect: e.id()}
	if e.Kind == "DaemonSet" {
		c.message = fmt.Sprintf("chooses %s, and its pods are of class %s", p.at(nodes), e.Class)
	} else {
		c.message = fmt.Sprintf("may be put on %s, and its pods are of class %s: neither a selector nor a taint keeps them off", p.at(nodes), e.Class)
	}
	c.remedy = fmt.Sprintf("let it select %s nodes alone: %s", e.Class, p.set(e, "node selector"))
	return c
}

// nowhere is that no node is chosen, or none takes the pods.
func (p *plan) nowhere(e expected) cause {
	c := cause{key: e.id() + " nowhere", suspect: e.id(), remedy: p.findRoom(e), of: p.traitOf(e)}
	verb := "fits"
	if e.Kind == "DaemonSet" {
		verb = "chooses"
	}
	c.message = fmt.Sprintf("%s no node of the recipe: %s", verb, p.refusedBy(e))
	return c
}

// findRoom is the remedy for pods that fit no node, by what keeps them off those of
// their class.
func (p *plan) findRoom(e expected) string {
	for _, n := range p.cell.Own(e.Class) {
		_, tainted := scenario.Untolerated(e.workload, n.Taints)
		switch {
		case e.Component == snapshot.OwnerProbe:
			return fmt.Sprintf("correct the profile %s, or accelerators.yaml: that says what pods for the accelerator carry and ask for", p.profile(n.Name))
		case len(mismatch(e.workload.Pod, n.Name, p.labels[n.Name])) > 0:
		case tainted:
			return "let it tolerate the taint: " + p.set(e, "tolerations")
		case len(p.neverOffers(n, e.workload.Pod)) > 0:
			return fmt.Sprintf("take the request away (%s), or let a component bring it to the profile %s", orSome(p.cell.Advice[e.Component].Footprint), p.profile(n.Name))
		}
	}
	return "let it select nodes that are there: " + p.set(e, "node selector")
}

// refusedBy says, for each class of nodes, what keeps the pods off.
func (p *plan) refusedBy(e expected) string {
	var parts []string
	for _, class := range []footprint.Class{footprint.System, footprint.Accelerated} {
		if e.Class != footprint.Any && e.Class != class {
			continue
		}
		for _, n := range p.cell.Own(class)[:min(1, len(p.cell.Own(class)))] {
			parts = append(parts, fmt.Sprintf("%s %s", classNodes(class), p.refuses(e, n.Name)))
		}
	}
	return strings.Join(parts, "; ")
}

// refuses says what of a node keeps the pods off, by the labels that it should end up with.
func (p *plan) refuses(e expected, node string) string {
	if unmet := mismatch(e.workload.Pod, node, p.labels[node]); len(unmet) > 0 {
		return "do not match " + describe(unmet)
	}
	if taint, tainted := p.untolerated(e, node); tainted {
		return "have the taint " + taint.ToString()
	}
	n, _ := p.node(node)
	if lacks := p.neverOffers(n, e.workload.Pod); len(lacks) > 0 {
		return fmt.Sprintf("never offer %s", lacks[0])
	}
	return "would do"
}

// notChosen is a selector that leaves a node out which something waits for.
func (p *plan) notChosen(e expected, node string, missing []unmet) cause {
	if len(e.Nodes) == 0 {
		return p.nowhere(e)
	}
	n, _ := p.node(node)
	var nodes []string
	for _, other := range p.cell.Own(n.Class) {
		if len(mismatch(e.workload.Pod, other.Name, p.labels[other.Name])) > 0 {
			nodes = append(nodes, other.Name)
		}
	}
	if len(nodes) == 0 {
		nodes = []string{node}
	}
	return cause{
		key: e.id() + " chooses others", suspect: e.id(),
		message: fmt.Sprintf("does not choose %s, where others wait for it: they do not match %s", p.at(nodes), describe(missing)),
		remedy:  "let it select these nodes too: " + p.set(e, "node selector"),
	}
}

// notUp is a pod that was bound and is not as it has to be.
func notUp(e expected, p *snapshot.Pod) cause {
	return cause{
		key: e.id() + " not up", suspect: e.id(), message: fmt.Sprintf("its pod %s on %s is %s", p.Name, p.Node, p.Phase),
		remedy: "read the pod's status in the evidence: nothing runs pods on simulated nodes, so none can come to its end",
	}
}
