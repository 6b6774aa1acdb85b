package judge

import (
	"strings"

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
				"see its finalizers; "+deletion(r),
				"%s of the run still exists", suspect(r)))
		}
		return l.fail(l.st.Left[0], append(left, l.unreadable()...)...)
	}
	return l.pass(l.st.At, snapshot.Ref{Kind: "Namespace", Name: l.setup.Namespace}, "no object with the label firstlight.dev/run=%s is left", l.setup.Run)
}

// deletion is the command that deletes an object.
func deletion(r snapshot.Ref) string {
	command := "kubectl delete " + strings.ToLower(r.Kind) + " " + r.Name
	if r.Namespace != "" {
		command += " -n " + r.Namespace
	}
	return command
}
