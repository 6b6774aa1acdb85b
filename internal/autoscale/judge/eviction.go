package judge

import (
	"slices"
	"strings"
	"time"

	"github.com/firstlight/firstlight/internal/autoscale/snapshot"
	"github.com/firstlight/firstlight/internal/check"
)

// evictionLag is the longest time from the binding of a pod to its eviction for which a lag of the
// eviction controller is assumed. A choice: its watches lag by seconds on an overloaded machine.
const evictionLag = 10 * time.Second

// evictedByLag reports pods that Kubernetes evicted because of a taint which their node had no more when they were
// bound. A new node has such a taint until it is registered (karpenter.sh/unregistered); when the autoscaler removes
// it, pods are bound. The taint eviction controller reads nodes and pods by two watches: if it sees the binding
// first, it deletes the pod. The node was added for that pod and not for its replacement, so the hop proves nothing.
func (l lookup) evictedByLag(pods []snapshot.Pod) []check.Finding {
	var out []check.Finding
	for _, p := range pods {
		at := p.Deleting
		if at.IsZero() {
			at = p.Deleted
		}
		if at.IsZero() || p.BoundAt.IsZero() || at.Sub(p.BoundAt) > evictionLag || !l.untaintedFor(p) || !l.markedForDeletion(p) {
			continue
		}
		out = append(out, finding(suspect(p.Ref),
			"run again; if it comes again, see whether kube-controller-manager lacks CPU, and which controllers set NoExecute taints",
			"%s was evicted %s after it was bound to %s, whose NoExecute taint was gone: the taint eviction controller had not seen the taint's removal", suspect(p.Ref), seconds(at.Sub(p.BoundAt)), p.Node))
	}
	return out
}

// markedForDeletion reports that the taint eviction controller deleted a pod. It reports a cancelled eviction with
// the same reason.
func (l lookup) markedForDeletion(p snapshot.Pod) bool {
	return slices.ContainsFunc(l.about(p.UID, "TaintManagerEviction"), func(e snapshot.Event) bool {
		return strings.HasPrefix(e.Message, "Marking for deletion")
	})
}

// untaintedFor reports whether the node of a pod lost its last taint that evicts before the pod was bound, and has
// none since. The time of the binding and that of the taint are of two watches.
func (l lookup) untaintedFor(p snapshot.Pod) bool {
	return slices.ContainsFunc(l.st.Nodes, func(n snapshot.Node) bool {
		return n.Name == p.Node && !n.Gone() && n.Deleting.IsZero() && !n.Evicts() && !n.Untainted.IsZero() && !n.Untainted.After(p.BoundAt.Add(watchSkew))
	})
}
