package judge

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/firstlight/firstlight/internal/autoscale/snapshot"
	"github.com/firstlight/firstlight/internal/check"
)

// nodeclaim requires a claim for each new pod that was made because of it.
func nodeclaim(l lookup) Result {
	if !l.karpenter() {
		return triggered(l)
	}
	added := l.expectant()
	waiting := only(added, func(p snapshot.Pod) bool { return len(l.claimsFor(p)) == 0 })
	if len(added) == 0 || len(waiting) > 0 {
		return l.noClaim(waiting)
	}
	claims := l.claimsOf(added)
	last := lastOf(claims, func(c snapshot.Claim) time.Time { return c.First })
	return l.pass(last.First, last.Ref, "%s for %s: %s", count(len(claims), "claim"), count(len(added), "pod"), names(claims, claimRef))
}

// expectant are the new pods that need a node of Karpenter. The scheduler binds a pending pod to any node that
// fits, before Karpenter plans one for it: hop bound fails for that pod. If it did so to all, all are here.
func (l lookup) expectant() []snapshot.Pod {
	added := active(l.added())
	out := only(added, func(p snapshot.Pod) bool {
		return p.Node == "" || len(l.nominations(p)) > 0 || slices.ContainsFunc(l.st.Claims, func(c snapshot.Claim) bool { return c.Ours && c.Node == p.Node })
	})
	if !l.karpenter() || len(out) == 0 {
		return added
	}
	return out
}

// noClaim reports why pods have no claim. A claim without a nomination proves nothing:
// Karpenter limits the rate of its nomination events.
func (l lookup) noClaim(waiting []snapshot.Pod) Result {
	if len(waiting) == 0 {
		return l.wait(snapshot.Ref{}, nil, finding("pods", "see hop pods", "no new pod exists"))
	}
	p := waiting[0]
	why := l.whyPending(waiting)
	loose := only(l.st.Claims, func(c snapshot.Claim) bool { return c.Ours && !c.Created.Before(p.Created) && !l.claimed(c) })
	if len(loose) > 0 && len(l.refusals(p)) == 0 && len(l.nominations(p)) == 0 {
		return l.unobserved(p.Ref, finding("NodeClaim "+loose[0].Name,
			"run again when fewer other pods are pending",
			"claims %s were created, but no event names their pod: Karpenter reports at most 5 nominations a second for all workloads", names(loose, claimRef)))
	}
	return l.wait(p.Ref, why, finding(suspect(p.Ref), "see Karpenter's log", "Karpenter has created no claim for %s", suspect(p.Ref)))
}

// claimed reports whether a claim was nominated for a pod of the run.
func (l lookup) claimed(c snapshot.Claim) bool {
	return slices.ContainsFunc(l.st.Pods, func(p snapshot.Pod) bool { return slices.Contains(l.nominations(p), c.Name) })
}

// triggered requires, with node groups, a TriggeredScaleUp event for each new pod. A pod of a later step of
// the HPA may have none: Cluster Autoscaler packs pending pods of one priority in any order
// (core/podlistprocessor/filter_out_schedulable.go), so it may plan the new pod for the node that is on its
// way for an earlier one, which then triggers the next scale-up, its second.
func triggered(l lookup) Result {
	added := active(l.added())
	events, again := map[string]snapshot.Event{}, []snapshot.Event(nil)
	var waiting []snapshot.Pod
	for _, p := range added {
		list := l.about(p.UID, "TriggeredScaleUp")
		if len(list) == 0 {
			waiting = append(waiting, p)
			continue
		}
		events[p.UID], again = list[0], append(again, list[1:]...)
	}
	// The newest first: each later scale-up counts for one pod, and an older pod has more to choose from.
	slices.SortStableFunc(waiting, func(a, b snapshot.Pod) int { return b.First.Compare(a.First) })
	waiting = slices.DeleteFunc(waiting, func(p snapshot.Pod) bool {
		i := slices.IndexFunc(again, func(e snapshot.Event) bool { return e.First.After(p.First) })
		if i < 0 {
			return false
		}
		events[p.UID], again = again[i], slices.Delete(again, i, i+1)
		return true
	})
	if len(added) == 0 || len(waiting) > 0 {
		return l.noClaim(waiting)
	}
	last := lastOf(added, func(p snapshot.Pod) time.Time { return events[p.UID].First })
	return l.pass(events[last.UID].First, last.Ref, "%s for %s: %s", l.autoscaler(), count(len(added), "pod"), events[last.UID].Message)
}

// newNodes returns the nodes of the new pods, and whether all of them exist. The node made for a pod
// that is bound elsewhere may be gone: the autoscaler removes nodes without pods. Hop bound fails for
// that pod.
func (l lookup) newNodes() (nodes []snapshot.Node, all bool) {
	added := active(l.added())
	of := l.nodesOf(added)
	misplaced := l.nodesOf(only(added, func(p snapshot.Pod) bool { return p.Node != "" && !contains(of, p.Node) }))
	want := max(len(l.activeClaims(added)), len(l.expectant()))
	nodes = only(of, func(n snapshot.Node) bool { return !n.Gone() || contains(misplaced, n.Name) })
	return nodes, want > 0 && len(nodes) >= want
}

// registered requires a registered node for each claim.
func registered(l lookup) Result {
	nodes, all := l.newNodes()
	if l.karpenter() {
		for _, c := range l.activeClaims(active(l.added())) {
			_, ok := snapshot.Is(c.Conditions, "Registered")
			all = all && ok
		}
	}
	if !all {
		return l.waitForNodes("registered")
	}
	last := lastOf(nodes, func(n snapshot.Node) time.Time { return n.First })
	return l.pass(last.First, last.Ref, "%s registered: %s", count(len(nodes), "node"), names(nodes, nodeRef))
}

// ready requires that each of these nodes is Ready.
func ready(l lookup) Result {
	nodes, all := l.newNodes()
	for _, n := range nodes {
		_, ok := snapshot.Is(n.Conditions, "Ready")
		all = all && ok
	}
	if !all {
		return l.waitForNodes("Ready")
	}
	last := lastOf(nodes, readyAt)
	return l.pass(readyAt(last), last.Ref, "%s Ready", count(len(nodes), "node"))
}

func readyAt(n snapshot.Node) time.Time {
	c, ok := snapshot.Is(n.Conditions, "Ready")
	if !ok {
		return time.Time{}
	}
	return transitionTime(c)
}

func (l lookup) waitForNodes(what string) Result {
	added := active(l.added())
	object := firstOf(added).Ref
	for _, c := range l.claimsOf(added) {
		if len(l.claimProblems(c)) > 0 {
			object = c.Ref
		}
	}
	why := l.whyNotReady(added)
	needed := only(why, func(f check.Finding) bool {
		return !slices.ContainsFunc(l.claimsOf(added), func(c snapshot.Claim) bool { return f.Suspect == "NodeClaim "+c.Name && l.unneeded(c, added) })
	})
	if evicted := l.evictedByLag(l.added()); len(evicted) > 0 && len(needed) == 0 {
		return l.finalUnobserved(object, evicted...)
	}
	if len(why) == 0 {
		why = l.replaced()
	}
	return l.wait(object, why, finding("node",
		"see the NodeClaims and their instances",
		"not every node of the new pods is %s: %s", what, l.inventory(added)))
}

// unneeded reports whether a claim was removed with its registered node after its pods had got other nodes: the
// scheduler binds a pod to any node that fits first, and Karpenter removes the empty one (reason Empty).
func (l lookup) unneeded(c snapshot.Claim, pods []snapshot.Pod) bool {
	_, registered := snapshot.Is(c.Conditions, "Registered")
	return registered && (c.Gone() || !c.Deleting.IsZero()) && !slices.ContainsFunc(pods, func(p snapshot.Pod) bool {
		return (p.Node == "" || p.Node == c.Node) && (slices.Contains(l.nominations(p), c.Name) || !l.claimed(c))
	})
}

// inventory lists the pods, claims and nodes of a hop.
func (l lookup) inventory(pods []snapshot.Pod) string {
	var nodes []string
	for _, n := range l.nodesOf(pods) {
		name := n.Name
		if n.Gone() {
			name += " (gone)"
		}
		nodes = append(nodes, name)
	}
	return fmt.Sprintf("%s %s, %s active %s, %s %s", count(len(pods), "pod"), names(pods, podRef),
		count(len(l.activeClaims(pods)), "claim"), names(l.claimsOf(pods), claimRef), count(len(nodes), "node"), join(nodes))
}

// replaced reports new pods that were deleted under load. Their replacements run on
// existing nodes, so no further claim is expected.
func (l lookup) replaced() []check.Finding {
	var out []check.Finding
	for _, p := range l.added() {
		if p.Deleting.IsZero() && !p.Gone() {
			continue
		}
		at := p.Deleting
		if at.IsZero() {
			at = p.Deleted
		}
		out = append(out, finding(suspect(p.Ref),
			"find out what deletes pods under load: the HPA if the metric drops (hop metrics-api), Karpenter's disruption, a descheduler, preemption",
			"%s, one of the new pods, was deleted under load %s after its creation%s; the HPA desired %s", suspect(p.Ref), seconds(at.Sub(p.First)), l.evicted(p), l.desires()))
	}
	return out
}

// evicted returns the eviction event of a pod.
func (l lookup) evicted(p snapshot.Pod) string {
	for _, e := range l.about(p.UID, "Evicted", "Preempted", "Killing", "TaintManagerEviction", "DisruptionTerminating") {
		return because(e.Reason + ": " + e.Message)
	}
	return ""
}

// desires lists the HPA's desired replicas under load with the metric values.
func (l lookup) desires() string {
	var out []string
	for _, d := range l.desiredSince(snapshot.MarkLoad) {
		out = append(out, fmt.Sprintf("%d (%s)", d.Desired, l.desiredValue(d)))
	}
	return cmp.Or(strings.Join(out, ", then "), "nothing")
}

// bound requires that the new pods run on the nodes added for them (with Stay, on initial
// nodes).
func bound(l lookup) Result {
	added := active(l.added())
	// The replacement of an evicted pod may be on the node that was added for that pod.
	evicted := l.evictedByLag(l.added())
	nodes := l.nodesOf(added)
	if len(evicted) > 0 {
		nodes = l.nodesOf(l.added())
	}
	for _, p := range added {
		if p.Node != "" && !contains(nodes, p.Node) && (!l.setup.Pool.Stay || !l.existed(p.Node)) {
			return l.fail(p.Ref, l.misplaced(p))
		}
	}
	if len(evicted) > 0 {
		return l.finalUnobserved(firstOf(added).Ref, evicted...)
	}
	waiting := only(added, func(p snapshot.Pod) bool { return !running(p) })
	if len(added) == 0 || len(waiting) > 0 {
		p := firstOf(append(waiting, added...))
		return l.wait(p.Ref, l.whyNotRunning(waiting), finding(cmp.Or(suspect(p.Ref), "pods"),
			"see the pods' events",
			"%d of %d new pods run", len(added)-len(waiting), len(added)))
	}
	last := lastOf(added, func(p snapshot.Pod) time.Time { return p.ReadyAt })
	if l.setup.Pool.Stay {
		return l.pass(last.ReadyAt, last.Ref, "%s run on %s, which existed before", names(added, podRef), join(nodesUsed(added)))
	}
	return l.pass(last.ReadyAt, last.Ref, "%s run on the %s added for them%s", count(len(added), "pod"), count(len(nodes), "node"), l.otherActivity())
}

func contains(nodes []snapshot.Node, name string) bool {
	return slices.ContainsFunc(nodes, func(n snapshot.Node) bool { return n.Name == name })
}

// misplaced reports a pod on a wrong node.
func (l lookup) misplaced(p snapshot.Pod) check.Finding {
	if l.setup.Pool.Stay {
		return finding(suspect(p.Ref),
			"free GPUs on the nodes of the inventory; find out what removed the node affinity of the pod",
			"%s is bound to %s, which did not exist before the run", suspect(p.Ref), p.Node)
	}
	message := fmt.Sprintf("%s is bound to %s, which was not created by a claim for it", suspect(p.Ref), p.Node)
	if l.existed(p.Node) {
		message = fmt.Sprintf("%s is bound to %s, a node from before the run that is not of %s", suspect(p.Ref), p.Node, l.setup.Pool.Name)
	}
	return finding(suspect(p.Ref),
		"check that the pod kept its nodeSelector and anti-affinity (an admission policy may remove them), and that they are enforced by scheduler "+cmp.Or(p.Scheduler, "default-scheduler"),
		"%s; its nodeSelector is %s", message, selector(p.Selector))
}
