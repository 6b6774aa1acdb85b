package judge

import (
	"cmp"
	"slices"
	"time"

	"github.com/firstlight/firstlight/internal/autoscale/snapshot"
)

// watchSkew is the maximum reordering between two watches.
const watchSkew = time.Second

// gangBound requires that a gang larger than the free nodes gets new nodes, and that all of
// its pods are bound after the last of these nodes is Ready.
func gangBound(l lookup) Result {
	all := l.since(snapshot.RoleGang, snapshot.MarkGang)
	gang := active(all)
	if len(gang) != l.setup.Gang || len(gang) == 0 {
		if evicted := l.evictedByLag(all); len(evicted) > 0 {
			return l.unobserved(firstOf(gang).Ref, evicted...)
		}
		return l.waitForGang(gang)
	}
	if waiting := only(gang, func(p snapshot.Pod) bool { return p.Node == "" }); len(waiting) > 0 {
		return l.wait(waiting[0].Ref, l.whyPending(waiting), finding(suspect(waiting[0].Ref),
			"see the PodGroup's status",
			"%d of %d pods of the gang are bound", len(gang)-len(waiting), len(gang)))
	}
	from := l.st.Marks[snapshot.MarkGang]
	came := only(l.st.Nodes, func(n snapshot.Node) bool { return n.UID != "" && n.First.After(from) && usedBy(n, gang) })
	if len(came) == 0 {
		return l.fail(gang[0].Ref, finding("gang",
			"raise site autoscale.gang above the number of free nodes",
			"the gang fit on the free nodes: it needed no new node, so the hop proves nothing"))
	}
	first := earliest(all, func(p snapshot.Pod) time.Time { return p.BoundAt })
	late := lastOf(came, usableAt)
	early := usableAt(late).Sub(first)
	if early > watchSkew && boundOnceReady(all, late) {
		return l.finalUnobserved(gang[0].Ref, finding("scheduler "+cmp.Or(gang[0].Scheduler, "default-scheduler"),
			"run again; see whether the API server was restarted or overloaded",
			"a pod of the gang was observed bound %s before %s, which the gang needs, was Ready, but not by the times of the API: a watch was interrupted", seconds(early), suspect(late.Ref)))
	}
	if early > watchSkew {
		return l.fail(gang[0].Ref, finding("scheduler "+cmp.Or(gang[0].Scheduler, "default-scheduler"),
			"check that the scheduler enforces the PodGroup: feature gate GenericWorkload, and before Kubernetes 1.37 GangScheduling, or the gang scheduler of site gpustack.gangScheduler",
			"a pod of the gang was bound %s before %s, which the gang needs, was Ready: not all-or-nothing", seconds(early), suspect(late.Ref)))
	}
	last := lastOf(gang, func(p snapshot.Pod) time.Time { return p.BoundAt })
	return l.pass(last.BoundAt, last.Ref, "%s of the gang bound together after %s became Ready", count(len(gang), "pod"), count(len(came), "node"))
}

// boundOnceReady reports whether, by the times of the API, every bound pod was bound not before the node was
// Ready. While watches are interrupted, and each is retried at its own times, objects are observed late.
func boundOnceReady(pods []snapshot.Pod, n snapshot.Node) bool {
	ready, ok := snapshot.Is(n.Conditions, "Ready")
	return ok && !ready.At.IsZero() && !slices.ContainsFunc(pods, func(p snapshot.Pod) bool {
		c, bound := snapshot.Is(p.Conditions, "PodScheduled")
		return !p.BoundAt.IsZero() && (!bound || c.At.Before(ready.At))
	})
}

// waitForGang waits until every pod of the gang exists.
func (l lookup) waitForGang(gang []snapshot.Pod) Result {
	return l.wait(snapshot.Ref{}, l.createFailures(), finding("gang",
		"see the events of its Job",
		"%d of %d pods of the gang exist", len(gang), l.setup.Gang))
}

func usedBy(n snapshot.Node, pods []snapshot.Pod) bool {
	return len(only(pods, func(p snapshot.Pod) bool { return p.Node == n.Name })) > 0
}

// usableAt is the time at which a node was Ready, but not before it was first observed.
func usableAt(n snapshot.Node) time.Time {
	if at := readyAt(n); at.After(n.First) {
		return at
	}
	return n.First
}

// poolLabel is the label of a NodePool's nodes, and the selector of their pods.
const poolLabel = "karpenter.sh/nodepool"

// usableIn lists when each of a NodePool's nodes could take pods, earliest first: their claims
// were initialized. Claims that are deleted since count.
func (l lookup) usableIn(pool string) []time.Time {
	var out []time.Time
	for _, c := range l.st.Claims {
		if done, ok := snapshot.Is(c.Conditions, "Initialized"); ok && c.UID != "" && c.Pool == pool {
			out = append(out, transitionTime(done))
		}
	}
	slices.SortFunc(out, time.Time.Compare)
	return out
}

// gangNone requires that no pod of the gang is bound with a limit one node short, although
// all other nodes can take pods, and that the autoscaler names the limit.
func gangNone(l lookup) Result {
	all := l.since(snapshot.RoleShort, snapshot.MarkGangZero)
	for _, p := range all {
		if p.Node != "" {
			return l.fail(p.Ref, finding(suspect(p.Ref),
				"check that the PodGroup is enforced by scheduler "+cmp.Or(p.Scheduler, "default-scheduler"),
				"%s of a gang that does not fit was bound to %s: not all-or-nothing", suspect(p.Ref), p.Node))
		}
	}
	gang := active(all)
	if len(gang) != l.setup.Gang || len(gang) == 0 {
		return l.waitForGang(gang)
	}
	var refusals, limit []snapshot.Event
	for _, p := range gang {
		refused := l.refusals(p)
		refusals = append(refusals, refused...)
		limit = append(limit, only(refused, func(e snapshot.Event) bool {
			return limitOf(e.Message, p.Selector[poolLabel]) || !l.karpenter()
		})...)
	}
	began := latest(gang, func(p snapshot.Pod) time.Time { return p.First }) // since then all of it is pending
	usable := l.usableIn(gang[0].Selector[poolLabel])
	need := l.setup.Gang - 1
	if len(usable) >= need && need > 0 && usable[need-1].After(began) {
		began = usable[need-1]
	}
	switch {
	case len(refusals) == 0:
		return l.unobserved(gang[0].Ref, finding(l.autoscaler(),
			"see its log; run again",
			"no pod of the gang is bound, but %s reports no reason", l.autoscaler()))
	case len(limit) == 0:
		return l.unobserved(gang[0].Ref, finding(l.autoscaler(),
			"correct the cause that it reports, then run again",
			"no pod of the gang is bound, but %s does not name the limit: %s", l.autoscaler(), refusals[len(refusals)-1].Message))
	case l.karpenter() && len(usable) < need:
		return l.unobserved(gang[0].Ref, finding("gang",
			"see the NodeClaims of NodePool "+gang[0].Selector[poolLabel]+" and their instances; run again",
			"%d of %s of NodePool %s became usable: without them no scheduler binds a pod, so the hop proves nothing", len(usable), count(need, "node"), gang[0].Selector[poolLabel]))
	case l.st.At.Sub(began) < l.setup.Window.Duration:
		return l.unobserved(gang[0].Ref, finding("gang",
			"run again",
			"no pod of the gang was bound for %s, want %s", seconds(l.st.At.Sub(began)), seconds(l.setup.Window.Duration)))
	default:
		return l.pass(l.st.At, gang[0].Ref, "with the limit one node short, none of %s was bound in %s", count(len(gang), "pod"), seconds(l.st.At.Sub(began)))
	}
}
