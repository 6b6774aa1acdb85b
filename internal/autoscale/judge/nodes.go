package judge

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/firstlight/firstlight/internal/autoscale/snapshot"
	"github.com/firstlight/firstlight/internal/check"
)

// nodeclaim: for each new pod there is a claim that was made because of it.
func nodeclaim(l look) Result {
	if !l.karpenter() {
		return triggered(l)
	}
	needs := []string{snapshot.ProblemPods, snapshot.ProblemClaims, snapshot.ProblemEvents}
	fresh := alive(l.added())
	var waiting []snapshot.Pod
	for _, p := range fresh {
		if len(l.claimsFor(p)) == 0 {
			waiting = append(waiting, p)
		}
	}
	if len(fresh) == 0 || len(waiting) > 0 {
		return l.noClaim(needs, waiting)
	}
	claims := l.claimsOf(fresh)
	last := lastOf(claims, func(c snapshot.Claim) time.Time { return c.First })
	return l.pass(last.First, last.Ref, "%s for %s: %s", count(len(claims), "claim"), count(len(fresh), "pod"), names(claims, claimRef))
}

// noClaim says why there is no claim for pods. A claim that nobody says is for
// them is no proof either way: Karpenter limits the rate of its nominations.
func (l look) noClaim(needs []string, waiting []snapshot.Pod) Result {
	if len(waiting) == 0 {
		return l.wait(snapshot.Ref{}, needs, nil, finding("pods", "there is no new pod", "see hop pods"))
	}
	p := waiting[0]
	why := l.whyPending(waiting)
	loose := only(l.st.Claims, func(c snapshot.Claim) bool { return c.Ours && !c.Created.Before(p.Created) && !l.claimed(c) })
	if len(loose) > 0 && len(l.refusals(p)) == 0 && len(l.nominations(p)) == 0 {
		return l.unknown(p.Ref, finding("NodeClaim "+loose[0].Name, fmt.Sprintf("claims %s came, but no event says for which pod: Karpenter names at most 5 pods a second, and others' pods count", names(loose, claimRef)), "run again when fewer pods of others are pending"))
	}
	return l.wait(p.Ref, needs, why, finding(suspect(p.Ref), fmt.Sprintf("Karpenter has made no claim for %s", suspect(p.Ref)), "see Karpenter's log"))
}

// claimed says that a claim was nominated for a pod of the run.
func (l look) claimed(c snapshot.Claim) bool {
	for _, p := range l.st.Pods {
		if slices.Contains(l.nominations(p), c.Name) {
			return true
		}
	}
	return false
}

// triggered: with node groups, the autoscaler says of each pod that it has the
// group scale.
func triggered(l look) Result {
	fresh := alive(l.added())
	said := func(p snapshot.Pod) snapshot.Event {
		list := l.about(p.UID, "TriggeredScaleUp")
		if len(list) == 0 {
			return snapshot.Event{}
		}
		return list[0]
	}
	waiting := only(fresh, func(p snapshot.Pod) bool { return said(p).Reason == "" })
	if len(fresh) == 0 || len(waiting) > 0 {
		return l.noClaim([]string{snapshot.ProblemPods, snapshot.ProblemEvents}, waiting)
	}
	last := lastOf(fresh, func(p snapshot.Pod) time.Time { return said(p).First })
	return l.pass(said(last).First, last.Ref, "%s for %s: %s", l.autoscaler(), count(len(fresh), "pod"), said(last).Message)
}

// arrived are the nodes of the new pods, all of them or not yet.
func (l look) arrived() (nodes []snapshot.Node, all bool) {
	fresh := alive(l.added())
	want := len(fresh)
	if l.karpenter() {
		want = max(len(l.standing(fresh)), len(fresh))
	}
	nodes = only(l.nodesOf(fresh), func(n snapshot.Node) bool { return !n.Gone() })
	return nodes, want > 0 && len(nodes) >= want
}

// registered: the node of each claim is there.
func registered(l look) Result {
	nodes, all := l.arrived()
	if l.karpenter() {
		for _, c := range l.standing(alive(l.added())) {
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

// ready: each of those nodes is Ready.
func ready(l look) Result {
	nodes, all := l.arrived()
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
	return held(c)
}

func (l look) waitForNodes(what string) Result {
	fresh := alive(l.added())
	object := snapshot.Ref{}
	if len(fresh) > 0 {
		object = fresh[0].Ref
	}
	var why []check.Finding
	for _, c := range l.claimsOf(fresh) {
		if found := l.whyClaim(c); len(found) > 0 {
			object = c.Ref
			why = append(why, found...)
		}
	}
	if !l.karpenter() {
		why = l.whyNotReady(fresh)
	}
	if len(why) == 0 {
		why = l.replaced()
	}
	return l.wait(object, []string{snapshot.ProblemClaims, snapshot.ProblemNodes}, why, finding("node", "not every node of the new pods is "+what+": "+l.inventory(fresh), "see the NodeClaims and their instances"))
}

// inventory lists the pods, claims and nodes that a hop is about, where none of them says
// what is wrong.
func (l look) inventory(pods []snapshot.Pod) string {
	var nodes []string
	for _, n := range l.nodesOf(pods) {
		name := n.Name
		if n.Gone() {
			name += " (gone)"
		}
		nodes = append(nodes, name)
	}
	return fmt.Sprintf("%s %s, %s standing %s, %s %s", count(len(pods), "pod"), names(pods, podRef),
		count(len(l.standing(pods)), "claim"), names(l.claimsOf(pods), claimRef), count(len(nodes), "node"), join(nodes))
}

// replaced names new pods that were deleted while the load was on. What came in their
// place, if anything, has a node without a claim of its own: nothing more will come.
func (l look) replaced() []check.Finding {
	var out []check.Finding
	for _, p := range l.added() {
		if p.Deleting.IsZero() && !p.Gone() {
			continue
		}
		at := p.Deleting
		if at.IsZero() {
			at = p.Deleted
		}
		out = append(out, finding(suspect(p.Ref), fmt.Sprintf("%s, one of the new pods, was deleted under load, %s after it came%s; the HPA desired %s",
			suspect(p.Ref), seconds(at.Sub(p.First)), l.evicted(p), l.desires()), "see who deletes pods under load: the HPA when the metric does not hold (hop metrics-api), Karpenter's disruption, a descheduler, preemption"))
	}
	return out
}

// evicted is what the events say of the end of a pod.
func (l look) evicted(p snapshot.Pod) string {
	for _, e := range l.about(p.UID, "Evicted", "Preempted", "Killing", "TaintManagerEviction", "DisruptionTerminating") {
		return because(e.Reason + ": " + e.Message)
	}
	return ""
}

// desires lists what the HPA desired under load, and for which values.
func (l look) desires() string {
	var out []string
	for _, d := range l.desiredSince(snapshot.MarkLoad) {
		out = append(out, fmt.Sprintf("%d (%s)", d.Desired, l.desiredValue(d)))
	}
	return orElse(strings.Join(out, ", then "), "nothing")
}

// bound: the new pods run on the nodes that came because of them; on some that
// were there where they are to stay.
func bound(l look) Result {
	fresh := alive(l.added())
	nodes := l.nodesOf(fresh)
	for _, p := range fresh {
		if p.Node != "" && !contains(nodes, p.Node) && (!l.setup.Pool.Stay || !l.there(p.Node)) {
			return l.broken(p.Ref, l.elsewhere(p))
		}
	}
	waiting := only(fresh, func(p snapshot.Pod) bool { return !runs(p) })
	if len(fresh) == 0 || len(waiting) > 0 {
		p := head(append(waiting, fresh...))
		return l.wait(p.Ref, []string{snapshot.ProblemPods, snapshot.ProblemNodes}, l.whyNotRunning(waiting), finding(orElse(suspect(p.Ref), "pods"), fmt.Sprintf("%d of %d new pods run", len(fresh)-len(waiting), len(fresh)), "see the pods' events"))
	}
	last := lastOf(fresh, func(p snapshot.Pod) time.Time { return p.ReadyAt })
	if l.setup.Pool.Stay {
		return l.pass(last.ReadyAt, last.Ref, "%s run on %s, which were there", names(fresh, podRef), join(nodesUsed(fresh)))
	}
	return l.pass(last.ReadyAt, last.Ref, "%s run on the %s that came for them%s", count(len(fresh), "pod"), count(len(nodes), "node"), l.other())
}

func contains(nodes []snapshot.Node, name string) bool {
	for _, n := range nodes {
		if n.Name == name {
			return true
		}
	}
	return false
}

// elsewhere names a pod that is not where it should be.
func (l look) elsewhere(p snapshot.Pod) check.Finding {
	if l.setup.Pool.Stay {
		return finding(suspect(p.Ref), fmt.Sprintf("%s is bound to %s, which was not there before the run", suspect(p.Ref), p.Node),
			"free GPUs on the nodes of the inventory; see what took the node affinity of the pod away")
	}
	message := fmt.Sprintf("%s is bound to %s, which no claim of its own made", suspect(p.Ref), p.Node)
	if l.there(p.Node) {
		message = fmt.Sprintf("%s is bound to %s, a node that was there before and is not of %s", suspect(p.Ref), p.Node, l.setup.Pool.Name)
	}
	return finding(suspect(p.Ref), fmt.Sprintf("%s; its nodeSelector is %s", message, selector(p.Selector)),
		"see that its nodeSelector for the pool and its anti-affinity are as rendered (an admission policy may take them away), and that scheduler "+orElse(p.Scheduler, "default-scheduler")+" heeds them")
}
