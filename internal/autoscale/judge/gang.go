package judge

import (
	"fmt"
	"time"

	"github.com/firstlight/firstlight/internal/autoscale/snapshot"
	"github.com/firstlight/firstlight/internal/check"
)

// watchSkew is by how much two watches may tell of things in the wrong order.
const watchSkew = time.Second

// gangBound: a gang larger than the free nodes gets the nodes that it needs, and
// none of its pods is bound before the last of them is Ready.
func gangBound(l look) Result {
	needs := []string{snapshot.ProblemPods, snapshot.ProblemNodes, snapshot.ProblemClaims}
	gang := l.since(snapshot.RoleGang, snapshot.MarkGang)
	if len(gang) != l.setup.Gang || len(gang) == 0 {
		return l.wait(snapshot.Ref{}, needs, l.refused(), finding("gang", fmt.Sprintf("%d of %d pods of the gang exist", len(gang), l.setup.Gang), "see the events of its Job"))
	}
	if waiting := only(gang, func(p snapshot.Pod) bool { return p.Node == "" }); len(waiting) > 0 {
		return l.wait(waiting[0].Ref, needs, l.whyPending(waiting), finding(suspect(waiting[0].Ref), fmt.Sprintf("%d of %d pods of the gang are bound", len(gang)-len(waiting), len(gang)), "see the PodGroup's status"))
	}
	from := l.st.Marks[snapshot.MarkGang]
	came := only(l.st.Nodes, func(n snapshot.Node) bool { return n.UID != "" && n.First.After(from) && usedBy(n, gang) })
	if len(came) == 0 {
		return l.broken(gang[0].Ref, finding("gang", "the gang fitted the nodes that were free: it did not overflow, and proves nothing", "raise site autoscale.gang above the number of free nodes"))
	}
	first := earliest(gang, func(p snapshot.Pod) time.Time { return p.BoundAt })
	late := lastOf(came, usableAt)
	if early := usableAt(late).Sub(first); early > watchSkew {
		return l.broken(gang[0].Ref, finding("scheduler "+orElse(gang[0].Scheduler, "default-scheduler"), fmt.Sprintf("a pod of the gang was bound %s before %s, which the gang needs, was Ready: it is not all or nothing", seconds(early), suspect(late.Ref)),
			"see that the gang's PodGroup is heeded: feature gates GenericWorkload and GangScheduling, or the gang scheduler of site gpustack.gangScheduler"))
	}
	last := lastOf(gang, func(p snapshot.Pod) time.Time { return p.BoundAt })
	return l.pass(last.BoundAt, last.Ref, "%s of the gang bound together once %s had come", count(len(gang), "pod"), count(len(came), "node"))
}

func usedBy(n snapshot.Node, pods []snapshot.Pod) bool {
	return len(only(pods, func(p snapshot.Pod) bool { return p.Node == n.Name })) > 0
}

// usableAt is when a node was Ready, or at the earliest may have been.
func usableAt(n snapshot.Node) time.Time {
	if at := readyAt(n); at.After(n.First) {
		return at
	}
	return n.First
}

// gangNone: with the limit one node short, none of the gang is bound, and it is
// the limit that the autoscaler names.
func gangNone(l look) Result {
	needs := []string{snapshot.ProblemPods, snapshot.ProblemEvents}
	gang := l.since(snapshot.RoleShort, snapshot.MarkGangZero)
	for _, p := range gang {
		if p.Node != "" {
			return l.broken(p.Ref, finding(suspect(p.Ref), fmt.Sprintf("%s of a gang that cannot be placed whole was bound to %s: it is not all or nothing", suspect(p.Ref), p.Node),
				"see that the gang's PodGroup is heeded by scheduler "+orElse(p.Scheduler, "default-scheduler")))
		}
	}
	if len(gang) != l.setup.Gang || len(gang) == 0 {
		return l.wait(snapshot.Ref{}, needs, l.refused(), finding("gang", fmt.Sprintf("%d of %d pods of the gang exist", len(gang), l.setup.Gang), "see the events of its Job"))
	}
	if len(l.unseen(needs)) > 0 {
		return l.wait(gang[0].Ref, needs, nil, check.Finding{})
	}
	var limit []snapshot.Event
	for _, p := range gang {
		limit = append(limit, only(l.refusals(p), func(e snapshot.Event) bool {
			return isLimit(e.Message) || !l.karpenter()
		})...)
	}
	began := l.st.Marks[snapshot.MarkGangZero]
	switch {
	case len(limit) == 0:
		return l.unknown(gang[0].Ref, finding(l.autoscaler(), "none of the gang is bound, but "+l.autoscaler()+" does not say that it is for the limit", "see its log; run again"))
	case l.st.At.Sub(began) < l.setup.Window:
		return l.unknown(gang[0].Ref, finding("gang", fmt.Sprintf("none of the gang was bound for %s, %s are wanted", seconds(l.st.At.Sub(began)), seconds(l.setup.Window)), "run again"))
	default:
		return l.pass(l.st.At, gang[0].Ref, "with the limit one node short, none of %s was bound in %s", count(len(gang), "pod"), seconds(l.st.At.Sub(began)))
	}
}
