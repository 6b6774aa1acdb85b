package health

import (
	"fmt"
	"strings"
	"time"

	"github.com/firstlight/firstlight/internal/assertion"
	"github.com/firstlight/firstlight/internal/check"
)

func (j *judge) fail(o check.Observation, suspect, message, remedy string) {
	j.failed = append(j.failed, check.NewFinding(o.ID, suspect, remedy, "%s", message))
}

func (j *judge) unseen(o check.Observation, suspect, message, remedy string) {
	j.unobserved = append(j.unobserved, check.NewFinding(o.ID, suspect, remedy, "%s", message))
}

// hasFinding reports whether a component already has a finding.
func (j *judge) hasFinding(component string) bool {
	for _, list := range [][]check.Finding{j.failed, j.unobserved} {
		for _, f := range list {
			if f.Suspect == "component "+component || strings.HasPrefix(f.Message, "component "+component+",") {
				return true
			}
		}
	}
	return false
}

// explain adds a finding for each object and field that does not hold.
func (j *judge) explain(o check.Observation, op *assertion.Operation, r assertion.Result, where string, f figures) {
	waited := fmt.Sprintf("; evaluated %d times in %s", f.Looks, o.Took.Round(100*time.Millisecond))
	if f.Once {
		waited = "; evaluated once, since an earlier assertion failed"
	}
	switch {
	case r.Unseen:
		j.unseen(o, r.Subject, where+" could not be observed: "+r.Wrong, remedyFor(r))
	case r.NoKind:
		j.fail(o, r.Subject, where+": "+r.Wrong+waited, "install the CRD of the kind, or correct apiVersion and kind in "+op.At.String())
	case r.Wrong != "":
		j.fail(o, r.Subject, where+": "+r.Wrong+waited, "correct the assertion or its input so that it can be evaluated")
	case len(r.Fields) > 0:
		j.fail(o, r.Subject, where+": "+fieldsText(r.Fields)+waited, "correct the values that the expression reads")
	case len(r.Objects) == 0 && op.Kind == assertion.Assert:
		j.fail(o, r.Subject, where+": not found"+waited, "find out why the component did not create it: its release, its operator's log, the events of its namespace")
	case len(r.Objects) == 0:
		j.fail(o, r.Subject, where+": the expression holds and must not hold"+waited, "correct the values that the expression reads")
	default:
		j.objects(o, op, r, where, waited)
	}
}

func (j *judge) objects(o check.Observation, op *assertion.Operation, r assertion.Result, where, waited string) {
	for _, object := range r.Objects {
		switch {
		case op.Kind == assertion.Error && object.Matches:
			j.fail(o, object.Name, where+": exists and must not exist"+waited, "kubectl describe "+object.Name)
		case op.Kind == assertion.Assert && !object.Matches:
			j.fail(o, object.Name, where+": "+fieldsText(object.Fields)+waited, "kubectl describe the object and its pods: "+object.Name)
		}
	}
}

// fieldsText is the engine's lines with the values that the expressions read.
func fieldsText(fields []assertion.Field) string {
	lines := make([]string, len(fields))
	for i, f := range fields {
		lines[i] = f.String()
		if len(f.Values) > 0 {
			lines[i] += " (" + strings.Join(f.Values, ", ") + ")"
		}
	}
	return strings.Join(lines, "; ")
}

// remedyFor is the remedy for a failed read.
func remedyFor(r assertion.Result) string {
	if r.Forbidden {
		return "give the user of this kubeconfig the permissions that firstlight's RBAC lists"
	}
	return "make the API server reachable with this kubeconfig, then run the step again"
}
