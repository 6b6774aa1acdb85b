package judge

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/firstlight/firstlight/internal/autoscale/snapshot"
	"github.com/firstlight/firstlight/internal/check"
)

// nodesGone: the nodes that came for those pods are gone.
func nodesGone(l look) Result {
	needs := []string{snapshot.ProblemNodes}
	nodes := l.nodesOf(l.added())
	if len(nodes) == 0 {
		return l.wait(snapshot.Ref{}, needs, nil, finding("nodes", "the load brought no nodes, so none can go", "see hop registered"))
	}
	stay := only(nodes, func(n snapshot.Node) bool { return !n.Gone() })
	if len(stay) > 0 {
		var why []check.Finding
		for _, n := range stay {
			for _, f := range l.whyStays(n) {
				if !slices.ContainsFunc(why, func(g check.Finding) bool { return g.Suspect == f.Suspect && g.Remedy == f.Remedy }) {
					why = append(why, f) // a pool's reason is that of all its nodes
				}
			}
		}
		return l.wait(stay[0].Ref, needs, why, check.Finding{})
	}
	last := lastOf(nodes, func(n snapshot.Node) time.Time { return n.Deleted })
	return l.pass(last.Deleted, last.Ref, "%s drained and deleted", count(len(nodes), "node"))
}

// claimsGone: their claims are gone, too.
func claimsGone(l look) Result {
	needs := []string{snapshot.ProblemClaims}
	if !l.karpenter() {
		return notApplicable("nodes come from " + l.autoscaler() + ", which makes no claims")
	}
	claims := l.claimsOf(l.added())
	if len(claims) == 0 {
		return l.wait(snapshot.Ref{}, needs, nil, finding("claims", "the load brought no claims, so none can go", "see hop nodeclaim"))
	}
	for _, c := range claims {
		if c.Gone() {
			continue
		}
		message := "NodeClaim " + c.Name + " is still there and its deletion was not asked for"
		if !c.Deleting.IsZero() {
			message = fmt.Sprintf("NodeClaim %s has been deleting for %s: its instance (%s) is not confirmed gone", c.Name, seconds(l.st.At.Sub(c.Deleting)), orElse(c.ProviderID, "unknown"))
		}
		return l.wait(c.Ref, needs, nil, finding("NodeClaim "+c.Name, message, "see the claim's finalizers, Karpenter's log and the instance at the provider"))
	}
	last := lastOf(claims, func(c snapshot.Claim) time.Time { return c.Deleted })
	return l.pass(last.Deleted, last.Ref, "%s gone", count(len(claims), "claim"))
}

// bystanders: the nodes that were there before the load still are. Nodes of
// somebody else's pool come and go as they like.
func bystanders(l look) Result {
	needs := []string{snapshot.ProblemNodes}
	from, marked := l.st.Marks[snapshot.MarkLoad]
	if !marked || len(l.setup.Before) == 0 || len(l.kept()) == 0 {
		return l.wait(snapshot.Ref{}, needs, nil, finding("nodes", "no node was there before, so none can have stayed", "run again"))
	}
	gone := l.missing()
	mine := only(l.st.Nodes, func(n snapshot.Node) bool { return n.UID != "" && n.Ours && !n.First.After(from) && !foreign(n) })
	for _, n := range mine {
		if n.Gone() && slices.ContainsFunc(l.kept(), func(p snapshot.Pod) bool { return p.Node == n.Name }) {
			gone = append(gone, finding(suspect(n.Ref), suspect(n.Ref)+" of the first replica is gone: it was removed with the new ones", "see Karpenter's DisruptionTerminating event on it: it may have been replaced by a cheaper one"))
		}
	}
	if len(gone) > 0 {
		return l.broken(snapshot.Ref{Kind: "Node", Name: strings.TrimPrefix(gone[0].Suspect, "node ")}, gone...)
	}
	if len(l.unseen(needs)) > 0 {
		return l.wait(snapshot.Ref{}, needs, nil, check.Finding{})
	}
	object := l.setup.Before[0]
	if len(mine) > 0 {
		object = mine[0].Ref
	}
	return l.pass(l.st.At, object, "%s that were there before the load still are%s", count(len(l.setup.Before)-len(l.st.Missing)+len(mine), "node"), l.other())
}

// missing are nodes that were there before the run and are gone, but for those of
// somebody else's pool.
func (l look) missing() []check.Finding {
	var out []check.Finding
	for _, r := range l.st.Missing {
		pool, pooled := l.setup.BeforePools[r.Name]
		if _, inventory := l.setup.GPUs[r.Name]; pooled && pool != l.setup.Pool.Name && !inventory {
			continue
		}
		out = append(out, finding(suspect(r), suspect(r)+" was there before the run and is gone", "find out who removed it: events, the autoscaler's log, the provider's console"))
	}
	return out
}

// whyStays says what keeps a node.
func (l look) whyStays(n snapshot.Node) []check.Finding {
	name := suspect(n.Ref)
	claim := l.claimOf(n)
	var out []check.Finding
	for _, h := range n.Holders {
		if f, keeps := holds(name, h); keeps {
			out = append(out, f)
		}
	}
	pool, there := l.pool(orElse(n.Pool, l.setup.Pool.Name))
	if there {
		out = append(out, consolidationOff(pool)...)
	}
	out = append(out, l.blockers(n, claim)...)
	if p, stated := l.program("autoscaler"); stated && !p.Absent {
		out = append(out, programFindings(p, "the autoscaler", "site autoscale.controller")...)
	}
	if len(out) > 0 {
		return out
	}
	if !n.Deleting.IsZero() {
		return []check.Finding{finding(name, fmt.Sprintf("%s has been draining for %s", name, seconds(l.st.At.Sub(n.Deleting))), "see the pods on it, its finalizers and Karpenter's log")}
	}
	if c, ok := snapshot.Is(claim.Conditions, "Consolidatable"); claim.UID != "" && !ok {
		return []check.Finding{finding(name, fmt.Sprintf("%s stays: its claim is not Consolidatable yet (%s)", name, condition(c)), fmt.Sprintf("it becomes so after consolidateAfter (%s) without a change of its pods", l.interval(snapshot.SettingConsolidate)))}
	}
	return []check.Finding{finding(name, fmt.Sprintf("%s stays though nothing is seen that keeps it", name), fmt.Sprintf("see %s's log; %s; %s", l.autoscaler(), l.interval(snapshot.SettingDisruption), l.interval(snapshot.SettingValidation)))}
}

func (l look) claimOf(n snapshot.Node) snapshot.Claim {
	for _, c := range slices.Backward(l.st.Claims) {
		if m, ok := l.nodeOf(c); ok && m.UID == n.UID {
			return c
		}
	}
	return snapshot.Claim{}
}

// holds says whether a pod keeps a node, and which remedy there is.
func holds(node string, h snapshot.Holder) (check.Finding, bool) {
	pod := suspect(h.Ref)
	switch {
	case h.DoNotDisrupt:
		return finding(pod, fmt.Sprintf("%s stays: %s on it is annotated karpenter.sh/do-not-disrupt", node, pod), "remove the annotation, or let the pod end"), true
	case h.Daemon:
		return check.Finding{}, false
	case !h.Ours:
		return finding(pod, fmt.Sprintf("%s stays: %s, which is not of this run, is on it", node, pod), "let it end, or keep others off the pool with a taint"), true
	default:
		return finding(pod, fmt.Sprintf("%s stays: %s is still on it", node, pod), "see hop pods-gone"), true
	}
}

// blockers are the autoscaler's own reasons to leave a node.
func (l look) blockers(n snapshot.Node, c snapshot.Claim) []check.Finding {
	name := suspect(n.Ref)
	pool, _ := l.pool(orElse(n.Pool, l.setup.Pool.Name))
	var out []check.Finding
	for _, uid := range []string{n.UID, c.UID, pool.UID} {
		for _, e := range l.about(uid, "DisruptionBlocked", "Unconsolidatable", "FailedDraining", "ConsolidationRejected", "ScaleDownFailed") {
			if f, ok := l.blocker(name, e); ok && !slices.ContainsFunc(out, func(g check.Finding) bool { return g.Message == f.Message }) {
				out = append(out, f)
			}
		}
	}
	return out
}

// blocker reads one event. What was said before the load stopped counts only
// where it is about something that lasts.
func (l look) blocker(node string, e snapshot.Event) (check.Finding, bool) {
	message := fmt.Sprintf("%s stays: %s", node, e.Message)
	switch m := strings.ToLower(e.Message); {
	case strings.Contains(m, "poddisruptionbudget") || strings.Contains(m, "pdb prevents"):
		return finding(node, message, "loosen the PodDisruptionBudget that is named, or let its pods end"), true
	case strings.Contains(m, "do-not-disrupt"):
		return finding(node, message, "remove the annotation, or let the pod end"), true
	case strings.Contains(m, "consolidation disabled"):
		return finding("NodePool "+l.setup.Pool.Name, "consolidation is disabled: "+message, consolidateRemedy), true
	case strings.Contains(m, "blocking budget"):
		return finding("NodePool "+l.setup.Pool.Name, "disruption budget in the way: "+message, budgetRemedy), true
	case strings.Contains(m, "nominated for a pending pod") || strings.Contains(m, "isn't initialized"):
		return check.Finding{}, false // Karpenter says so of every new node, for a while
	case e.First.After(l.st.Marks[snapshot.MarkStop]):
		return finding(node, message, "see the autoscaler's log"), true
	default:
		return check.Finding{}, false
	}
}
