package judge

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/firstlight/firstlight/internal/recipe/footprint"
	"github.com/firstlight/firstlight/internal/schedule/scenario"
	"github.com/firstlight/firstlight/internal/schedule/snapshot"
)

// whyWaiting says why no node took pods, from the scheduler's own words.
func (v *view) whyWaiting(e expected, pods []*snapshot.Pod, w way) cause {
	message := answer(pods)
	said := fmt.Sprintf("%d of %d pods are Pending", len(pods), e.Pods)
	if message == "" {
		return v.unanswered(e, said)
	}
	r, ok := ParseRefusal(message)
	if !ok {
		return cause{
			key: e.id() + " waits", suspect: e.id(), message: said + "; the scheduler: " + message,
			remedy: "correct what the scheduler names in the pod: " + v.set(e, "node selector"),
		}
	}
	if c, ok := v.whyRefused(e, r, w); ok {
		return c
	}
	if len(e.Nodes) == 0 {
		c := v.nowhere(e)
		c.message += "; the scheduler: " + r.String()
		return c
	}
	return cause{
		key: e.id() + " waits", suspect: e.id(),
		message: fmt.Sprintf("%s on %s; the scheduler: %s%s", said, v.at(e.Nodes), r, v.room(e, r)),
		remedy:  v.makeRoom(e, r),
	}
}

// answer is the scheduler's message that says most: one that names nodes before one
// of a gang's member that waits for the others.
func answer(pods []*snapshot.Pod) string {
	message := ""
	for _, p := range pods {
		if _, ok := ParseRefusal(p.Message); ok {
			return p.Message
		}
		if message == "" {
			message = p.Message
		}
	}
	return message
}

// whyRefused follows a refusal to what the nodes should have and do not.
func (v *view) whyRefused(e expected, r Refusal, w way) (cause, bool) {
	for _, resource := range r.Lacks() {
		for _, n := range v.cell.Own(e.Class) {
			if !extended(corev1.ResourceName(resource)) || offers(v.nodes[n.Name], corev1.ResourceName(resource)) {
				continue
			}
			if c, ok := v.whyNoResource(n.Name, corev1.ResourceName(resource), w); ok {
				return c, true
			}
		}
	}
	if r.Says(scenario.ReasonAffinity) == 0 {
		return cause{}, false
	}
	for _, n := range v.cell.Own(e.Class) {
		if c, ok := v.whyUnmet(mismatch(e.workload.Pod, n.Name, v.has(n.Name)), n.Name, w); ok {
			return c, true
		}
	}
	return cause{}, false
}

func (v *view) unanswered(e expected, said string) cause {
	c := cause{key: e.id() + " unanswered", suspect: e.id(), message: said + ", and the scheduler has not said why"}
	c.remedy = "run the test again; if it stays, the scheduler's log in the evidence says why"
	if name := e.workload.Pod.SchedulerName; name != "" && name != corev1.DefaultSchedulerName {
		c.message += fmt.Sprintf(": they ask for the scheduler %s, which does not run here", name)
		c.remedy = "take schedulerName away, or have the test leave these pods out of the footprint"
	}
	return c
}

func (v *view) shapeOf(class footprint.Class) string {
	if own := v.cell.Own(class); len(own) > 0 {
		return v.profile(own[0].Name)
	}
	return "of its nodes"
}
