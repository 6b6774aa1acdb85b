package judge

import (
	"cmp"
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/firstlight/firstlight/internal/recipe/footprint"
	"github.com/firstlight/firstlight/internal/schedule/scenario"
	"github.com/firstlight/firstlight/internal/schedule/snapshot"
)

// whyWaiting returns why pods are unbound, from the scheduler's message.
func (v *view) whyWaiting(e expected, pods []*snapshot.Pod, w visited) cause {
	message := bestMessage(pods)
	summary := fmt.Sprintf("%d of %d pods are Pending", len(pods), e.Pods)
	if message == "" {
		return v.noSchedulerAnswer(e, summary)
	}
	r, ok := ParseRefusal(message)
	if !ok {
		return cause{
			key: e.id() + " waits", suspect: e.id(), message: summary + "; scheduler: " + message,
			remedy: "correct the pod as the scheduler reports: " + v.setRemedy(e, "node selector"),
		}
	}
	if c, ok := v.findRefusalCause(e, r, w); ok {
		return c
	}
	if len(e.Nodes) == 0 {
		c := v.noMatchingNode(e)
		c.message += "; scheduler: " + r.String()
		return c
	}
	return cause{
		key: e.id() + " waits", suspect: e.id(),
		message: fmt.Sprintf("%s on %s; scheduler: %s%s", summary, v.at(e.Nodes), r, v.shortage(e, r)),
		remedy:  v.capacityRemedy(e, r),
	}
}

// bestMessage prefers a message with per-node reasons to that of a gang member that waits
// for others.
func bestMessage(pods []*snapshot.Pod) string {
	message := ""
	for _, p := range pods {
		if _, ok := ParseRefusal(p.Message); ok {
			return p.Message
		}
		message = cmp.Or(message, p.Message)
	}
	return message
}

// findRefusalCause traces a refusal to a resource or label that the nodes lack.
func (v *view) findRefusalCause(e expected, r Refusal, w visited) (cause, bool) {
	for _, resource := range r.Insufficient() {
		for _, n := range v.scenario.Own(e.Class) {
			if !extended(corev1.ResourceName(resource)) || offers(v.nodes[n.Name], corev1.ResourceName(resource)) {
				continue
			}
			if c, ok := v.whyNoResource(n.Name, corev1.ResourceName(resource), w); ok {
				return c, true
			}
		}
	}
	if r.NodesWith(scenario.ReasonAffinity) == 0 {
		return cause{}, false
	}
	for _, n := range v.scenario.Own(e.Class) {
		if c, ok := v.whyLabelMissing(mismatch(e.workload.Pod, n.Name, v.has(n.Name)), n.Name, w); ok {
			return c, true
		}
	}
	return cause{}, false
}

func (v *view) noSchedulerAnswer(e expected, summary string) cause {
	c := cause{key: e.id() + " unanswered", suspect: e.id(), message: summary + ", and the scheduler has reported no reason"}
	c.remedy = "run the test again; if it persists, see the scheduler's log in the evidence"
	if name := e.workload.Pod.SchedulerName; name != "" && name != corev1.DefaultSchedulerName {
		c.message += fmt.Sprintf(": they request the scheduler %s, which does not run here", name)
		c.remedy = "remove schedulerName, or remove these pods from the footprint"
	}
	return c
}

func (v *view) shapeOf(class footprint.Class) string {
	if own := v.scenario.Own(class); len(own) > 0 {
		return v.profile(own[0].Name)
	}
	return "of its nodes"
}
