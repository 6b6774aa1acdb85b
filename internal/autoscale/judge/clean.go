package judge

import (
	"cmp"
	"fmt"

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
		var left []check.Finding
		for _, r := range l.st.Left {
			left = append(left, finding(suspect(r),
				fmt.Sprintf("see its finalizers; kubectl delete %s %s", cmp.Or(kindWord(r.Kind), "object"), r.Name),
				"%s of the run still exists", suspect(r)))
		}
		return l.fail(l.st.Left[0], left...)
	}
	return l.pass(l.st.At, snapshot.Ref{Kind: "Namespace", Name: l.setup.Namespace}, "no object with the label firstlight.dev/run=%s is left", l.setup.Run)
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
