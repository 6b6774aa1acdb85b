package judge

import (
	"strings"
	"time"

	"github.com/firstlight/firstlight/internal/autoscale/snapshot"
	"github.com/firstlight/firstlight/internal/check"
)

// evictionLag is the longest time from the binding of a pod to its eviction for which a lag of the
// eviction controller is assumed. A choice: its watches lag by seconds on an overloaded machine.
const evictionLag = 10 * time.Second

// evictedByLag reports pods that Kubernetes evicted because of a taint which their node has no
// more. A new node has such a taint until it is registered (karpenter.sh/unregistered); when the
// autoscaler removes it, pods are bound. The taint eviction controller reads nodes and pods by two
// watches: if it sees the binding first, it deletes the pod. The node was added for that pod and
// not for its replacement, so the hop proves nothing.
func (l lookup) evictedByLag(pods []snapshot.Pod) []check.Finding {
	var out []check.Finding
	for _, p := range pods {
		at := p.Deleting
		if at.IsZero() {
			at = p.Deleted
		}
		if at.IsZero() || p.BoundAt.IsZero() || at.Sub(p.BoundAt) > evictionLag || !l.untainted(p.Node) || len(l.about(p.UID, "TaintManagerEviction")) == 0 {
			continue
		}
		out = append(out, finding(suspect(p.Ref),
			"run again; if it comes again, see whether kube-controller-manager lacks CPU, and which controllers set NoExecute taints",
			"%s was evicted %s after it was bound to %s, which has no NoExecute taint: the taint eviction controller had not seen the taint's removal", suspect(p.Ref), seconds(at.Sub(p.BoundAt)), p.Node))
	}
	return out
}

// untainted reports whether a node of the run exists and has no taint that evicts pods.
func (l lookup) untainted(name string) bool {
	for _, n := range l.st.Nodes {
		if n.Name != name || n.Gone() || !n.Deleting.IsZero() {
			continue
		}
		for _, taint := range n.Taints {
			if strings.HasSuffix(taint, ":NoExecute") {
				return false
			}
		}
		return true
	}
	return false
}
