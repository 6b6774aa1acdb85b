package judge

import (
	"fmt"

	"github.com/firstlight/firstlight/internal/autoscale/snapshot"
	"github.com/firstlight/firstlight/internal/check"
)

// clean: nothing with the run's label is left.
func clean(l look) Result {
	needs := []string{snapshot.ProblemLeft}
	if _, began := l.st.Marks[snapshot.MarkClean]; !began {
		return l.wait(snapshot.Ref{}, needs, nil, finding("clean-up", "cleaning up did not begin", "remove what carries the label: kubectl delete namespace,priorityclass,nodepools -l firstlight.dev/run="+l.setup.Run))
	}
	if len(l.st.Left) > 0 {
		var left []check.Finding
		for _, r := range l.st.Left {
			left = append(left, finding(suspect(r), suspect(r)+" of the run is still there", fmt.Sprintf("see its finalizers; kubectl delete %s %s", orElse(kindWord(r.Kind), "object"), r.Name)))
		}
		return l.wait(l.st.Left[0], needs, left, check.Finding{})
	}
	if len(l.unseen(needs)) > 0 {
		return l.wait(snapshot.Ref{}, needs, nil, check.Finding{})
	}
	return l.pass(l.st.At, snapshot.Ref{Kind: "Namespace", Name: l.setup.Namespace}, "nothing with the label firstlight.dev/run=%s is left", l.setup.Run)
}

func kindWord(kind string) string {
	switch kind {
	case "NodePool":
		return "nodepool"
	case "NodeClaim":
		return "nodeclaim"
	case "Namespace":
		return "namespace"
	case "PriorityClass":
		return "priorityclass"
	case "Node":
		return "node"
	default:
		return kind
	}
}
