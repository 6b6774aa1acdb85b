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

// nodesGone requires that the nodes created for the new pods are gone.
func nodesGone(l lookup) Result {
	nodes := l.toRemove()
	if len(nodes) == 0 {
		return l.wait(snapshot.Ref{}, nil, finding("nodes", "see hop registered", "no nodes were added under load, so none can be removed"))
	}
	stay := only(nodes, func(n snapshot.Node) bool { return !n.Gone() })
	if len(stay) > 0 {
		var why []check.Finding
		for _, n := range stay {
			for _, f := range l.blockedRemoval(n) {
				if !slices.ContainsFunc(why, func(g check.Finding) bool { return g.Suspect == f.Suspect && g.Remedy == f.Remedy }) {
					why = append(why, f) // a pool's reason applies to all its nodes
				}
			}
		}
		return l.wait(stay[0].Ref, why, check.Finding{})
	}
	last := lastOf(nodes, func(n snapshot.Node) time.Time { return n.Deleted })
	text := count(len(nodes), "node") + " drained and deleted"
	emptied := lastOf(l.added(), func(p snapshot.Pod) time.Time { return p.Deleted }).Deleted
	if why := l.recheck(emptied, last.Deleted); why != "" {
		text += ", " + why
	}
	return l.pass(last.Deleted, last.Ref, "%s", text)
}

// toRemove lists the nodes that have to go with the new pods: those added for them, and those added since
// on which one of them ran. A pod may have a node without a nomination, since Karpenter limits the rate of
// these events (pkg/controllers/provisioning/scheduling/events.go PodNominationRateLimiter).
func (l lookup) toRemove() []snapshot.Node {
	added, from := l.added(), l.st.Marks[snapshot.MarkLoad]
	of := l.nodesOf(added)
	if len(of) == 0 {
		return nil // nothing tells why the nodes were added
	}
	return only(l.st.Nodes, func(n snapshot.Node) bool {
		ran := n.UID != "" && n.Ours && n.First.After(from) && usedBy(n, added)
		return ran || !l.grownForOthers(n) && slices.ContainsFunc(of, func(m snapshot.Node) bool { return m.UID == n.UID })
	})
}

// grownForOthers reports whether a node group got a node for other workloads: no new pod was on it, and
// only other pods run there. Nodes of a NodePool have claims that tell.
func (l lookup) grownForOthers(n snapshot.Node) bool {
	return !l.karpenter() && foreign(n) && !usedBy(n, l.added())
}

// claimsGone requires that the claims of the new pods are gone.
func claimsGone(l lookup) Result {
	claims := l.claimsOf(l.added())
	for _, n := range l.toRemove() {
		if c := l.claimOf(n); c.UID != "" && !slices.ContainsFunc(claims, func(d snapshot.Claim) bool { return d.UID == c.UID }) {
			claims = append(claims, c)
		}
	}
	if len(claims) == 0 {
		return l.wait(snapshot.Ref{}, nil, finding("claims", "see hop nodeclaim", "no claims were created under load, so none can be removed"))
	}
	for _, c := range claims {
		if c.Gone() {
			continue
		}
		message := "NodeClaim " + c.Name + " still exists and its deletion was not requested"
		if !c.Deleting.IsZero() {
			message = fmt.Sprintf("NodeClaim %s has been terminating for %s: the termination of its instance (%s) is not confirmed", c.Name, seconds(l.st.At.Sub(c.Deleting)), cmp.Or(c.ProviderID, "unknown"))
		}
		return l.wait(c.Ref, nil, finding("NodeClaim "+c.Name,
			"see the claim's finalizers, Karpenter's log and the instance at the provider",
			"%s", message))
	}
	last := lastOf(claims, func(c snapshot.Claim) time.Time { return c.Deleted })
	return l.pass(last.Deleted, last.Ref, "%s gone", count(len(claims), "claim"))
}

// bystanders requires that the nodes from before the load still exist. Nodes of other
// pools may change.
func bystanders(l lookup) Result {
	from, marked := l.st.Marks[snapshot.MarkLoad]
	if !marked || len(l.setup.Before) == 0 || len(l.initial()) == 0 {
		return l.wait(snapshot.Ref{}, nil, finding("nodes", "run again", "no node existed before the load, so the hop proves nothing"))
	}
	gone := l.missing()
	mine := only(l.st.Nodes, func(n snapshot.Node) bool { return n.UID != "" && n.Ours && !n.First.After(from) && !foreign(n) })
	for _, n := range mine {
		if n.Gone() && slices.ContainsFunc(l.initial(), func(p snapshot.Pod) bool { return p.Node == n.Name }) {
			gone = append(gone, finding(suspect(n.Ref),
				"see Karpenter's DisruptionTerminating event on it: a cheaper node may have replaced it",
				"%s of the first replica was removed together with the new nodes", suspect(n.Ref)))
		}
	}
	if len(gone) > 0 {
		return l.fail(snapshot.Ref{Kind: "Node", Name: strings.TrimPrefix(gone[0].Suspect, "node ")}, gone...)
	}
	object := l.setup.Before[0]
	if len(mine) > 0 {
		object = mine[0].Ref
	}
	return l.pass(l.st.At, object, "%s from before the load still exist%s", count(len(l.setup.Before)-len(l.st.Missing)+len(mine), "node"), l.otherActivity())
}

// missing reports the nodes from before the run that are gone, except those of other pools.
func (l lookup) missing() []check.Finding {
	var out []check.Finding
	for _, r := range l.st.Missing {
		pool, pooled := l.setup.BeforePools[r.Name]
		if _, inventory := l.setup.GPUs[r.Name]; pooled && pool != l.setup.Pool.Name && !inventory {
			continue
		}
		out = append(out, finding(suspect(r),
			"find out what removed it: events, the autoscaler's log, the provider's console",
			"%s existed before the run and is gone", suspect(r)))
	}
	return out
}

// blockedRemoval reports what keeps a node.
func (l lookup) blockedRemoval(n snapshot.Node) []check.Finding {
	name := suspect(n.Ref)
	claim := l.claimOf(n)
	var out []check.Finding
	for _, h := range n.Holders {
		if f, keeps := blockingPod(name, h); keeps {
			out = append(out, f)
		}
	}
	pool, existed := l.pool(cmp.Or(n.Pool, l.setup.Pool.Name))
	if existed {
		out = append(out, consolidationOff(pool)...)
	}
	out = append(out, l.blockers(n, claim)...)
	if p, found := l.program("autoscaler"); found && !p.Absent {
		out = append(out, programFindings(p, "the autoscaler", "site autoscale.controller")...)
	}
	if len(out) > 0 {
		return out
	}
	if !n.Deleting.IsZero() {
		return []check.Finding{finding(name,
			"see the pods on it, its finalizers and Karpenter's log",
			"%s has been draining for %s", name, seconds(l.st.At.Sub(n.Deleting)))}
	}
	if c, ok := snapshot.Is(claim.Conditions, "Consolidatable"); claim.UID != "" && !ok {
		return []check.Finding{finding(name,
			fmt.Sprintf("it becomes Consolidatable after consolidateAfter (%s) without a change of its pods", l.interval(snapshot.SettingConsolidate)),
			"%s remains: its claim is not Consolidatable yet (%s)", name, condition(c))}
	}
	remedy := fmt.Sprintf("see %s's log; %s; %s", l.autoscaler(), l.interval(snapshot.SettingDisruption), l.interval(snapshot.SettingValidation))
	if l.karpenter() {
		remedy += "; " + l.interval(snapshot.SettingNomination)
	}
	on := only(l.added(), func(p snapshot.Pod) bool { return p.Node == n.Name })
	emptied := lastOf(on, func(p snapshot.Pod) time.Time { return p.Deleted }).Deleted
	if why := l.recheck(emptied, l.st.At); why != "" {
		return []check.Finding{finding(name, remedy, "%s remains, %s", name, why)}
	}
	return []check.Finding{finding(name, remedy, "%s remains for no known reason", name)}
}

func (l lookup) claimOf(n snapshot.Node) snapshot.Claim {
	for _, c := range slices.Backward(l.st.Claims) {
		if m, ok := l.nodeOf(c); ok && m.UID == n.UID {
			return c
		}
	}
	return snapshot.Claim{}
}

// blockingPod reports whether a pod keeps its node.
func blockingPod(node string, h snapshot.Holder) (check.Finding, bool) {
	pod := suspect(h.Ref)
	switch {
	case h.DoNotDisrupt:
		return finding(pod, "remove the annotation, or let the pod end", "%s remains: %s on it is annotated karpenter.sh/do-not-disrupt", node, pod), true
	case h.Daemon:
		return check.Finding{}, false
	case !h.Ours:
		return finding(pod, "let it end, or keep other workloads off the pool with a taint", "%s remains: %s, which is not of this run, is on it", node, pod), true
	default:
		return finding(pod, "see hop pods-gone", "%s remains: %s is still on it", node, pod), true
	}
}

// blockers are the autoscaler's reasons to keep a node.
func (l lookup) blockers(n snapshot.Node, c snapshot.Claim) []check.Finding {
	name := suspect(n.Ref)
	pool, _ := l.pool(cmp.Or(n.Pool, l.setup.Pool.Name))
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

// blocker reads one event. An event from before the end of the load counts only if its
// cause is permanent.
func (l lookup) blocker(node string, e snapshot.Event) (check.Finding, bool) {
	message := fmt.Sprintf("%s remains: %s", node, e.Message)
	switch m := strings.ToLower(e.Message); {
	case strings.Contains(m, "poddisruptionbudget") || strings.Contains(m, "pdb prevents"):
		return finding(node, "loosen the named PodDisruptionBudget, or let its pods end", "%s", message), true
	case strings.Contains(m, "do-not-disrupt"):
		return finding(node, "remove the annotation, or let the pod end", "%s", message), true
	case strings.Contains(m, "consolidation disabled"):
		return finding("NodePool "+l.setup.Pool.Name, consolidateRemedy, "consolidation is disabled: %s", message), true
	case strings.Contains(m, "blocking budget"):
		return finding("NodePool "+l.setup.Pool.Name, budgetRemedy, "blocked by a disruption budget: %s", message), true
	case strings.Contains(m, "nominated for a pending pod") || strings.Contains(m, "isn't initialized"):
		return check.Finding{}, false // reported for every new node, for a while
	case e.First.After(l.st.Marks[snapshot.MarkStop]):
		return finding(node, "see the autoscaler's log", "%s", message), true
	default:
		return check.Finding{}, false
	}
}
