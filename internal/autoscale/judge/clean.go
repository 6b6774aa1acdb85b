package judge

import (
	"strings"
	"time"

	"github.com/firstlight/firstlight/internal/autoscale/snapshot"
	"github.com/firstlight/firstlight/internal/check"
)

// clean requires that no object with the run's label remains.
func clean(l lookup) Result {
	if _, began := l.st.Marks[snapshot.MarkClean]; !began {
		return l.wait(snapshot.Ref{}, nil, finding("clean-up",
			"delete the labelled objects: kubectl delete namespace,priorityclass,nodepools -l firstlight.dev/run="+l.setup.Run,
			"clean-up did not begin"))
	}
	if len(l.st.Left) > 0 {
		var left, kept []check.Finding
		for _, r := range l.st.Left {
			if pods := l.othersOn(r); len(pods) > 0 {
				kept = append(kept, finding(suspect(r), "when they have ended: "+deletion(r),
					"%s of the run is kept for pods that are not of this run: %s", suspect(r), strings.Join(pods, ", ")))
				continue
			}
			if since := l.deletingSince(r); !since.IsZero() {
				kept = append(kept, finding(suspect(r), "see that its instance ends; site autoscale.settings: {termination: ...} is how long that takes",
					"%s of the run is being removed for %s: the end of its instance is not confirmed yet", suspect(r), seconds(l.st.At.Sub(since))))
				continue
			}
			left = append(left, finding(suspect(r),
				"see its finalizers; "+deletion(r),
				"%s of the run still exists", suspect(r)))
		}
		if len(left) > 0 {
			return l.fail(l.st.Left[0], append(append(left, kept...), l.unreadable()...)...)
		}
		return Result{Judgement: check.NotObserved(check.Summary(kept), append(kept, l.unreadable()...)...), Object: l.st.Left[0]}
	}
	return l.pass(l.st.At, snapshot.Ref{Kind: "Namespace", Name: l.setup.Namespace}, "no object with the label firstlight.dev/run=%s is left", l.setup.Run)
}

// othersOn names the pods of others that need an object of the run: a node, its claim, or their NodePool.
func (l lookup) othersOn(r snapshot.Ref) []string {
	var out []string
	for _, n := range l.st.Nodes {
		needed := map[string]bool{"Node": n.UID == r.UID, "NodeClaim": l.claimOf(n).UID == r.UID, "NodePool": n.Pool == r.Name}[r.Kind]
		if !needed || r.UID == "" || n.Gone() {
			continue
		}
		for _, h := range n.Holders {
			if !h.Ours && !h.Daemon {
				out = append(out, suspect(h.Ref))
			}
		}
	}
	return out
}

// deletingSince is when the deletion of a claim or node was requested; zero if it was not.
func (l lookup) deletingSince(r snapshot.Ref) time.Time {
	for _, c := range l.st.Claims {
		if r.Kind == "NodeClaim" && r.UID != "" && c.UID == r.UID {
			return c.Deleting
		}
	}
	for _, n := range l.st.Nodes {
		if r.Kind == "Node" && r.UID != "" && n.UID == r.UID {
			return n.Deleting
		}
	}
	return time.Time{}
}

// deletion is the command that deletes an object.
func deletion(r snapshot.Ref) string {
	command := "kubectl delete " + strings.ToLower(r.Kind) + " " + r.Name
	if r.Namespace != "" {
		command += " -n " + r.Namespace
	}
	return command
}
