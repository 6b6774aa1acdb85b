package health

import (
	"fmt"
	"strings"
	"time"

	"github.com/firstlight/firstlight/internal/assertion"
	"github.com/firstlight/firstlight/internal/check"
)

func (j *judge) fail(o check.Observation, suspect, message, remedy string) {
	j.wrong = append(j.wrong, finding(o, suspect, message, remedy))
}

func (j *judge) miss(o check.Observation, suspect, message, remedy string) {
	j.unseen = append(j.unseen, finding(o, suspect, message, remedy))
}

func finding(o check.Observation, suspect, message, remedy string) check.Finding {
	f := check.Finding{Suspect: suspect, Message: message, Remedy: remedy}
	if o.ID != "" {
		f.Observations = []string{o.ID}
	}
	return f
}

// about says whether there is a finding of a component already.
func (j *judge) about(component string) bool {
	for _, list := range [][]check.Finding{j.wrong, j.unseen} {
		for _, f := range list {
			if f.Suspect == "component "+component || strings.HasPrefix(f.Message, "component "+component+",") {
				return true
			}
		}
	}
	return false
}

// explain says of each object what of it does not hold.
func (j *judge) explain(o check.Observation, op *assertion.Operation, r assertion.Result, where string, f figures) {
	waited := fmt.Sprintf("; looked at %d times in %s", f.Looks, o.Took.Round(100*time.Millisecond))
	if f.Once {
		waited = "; looked at once, since something before it does not hold"
	}
	switch {
	case r.Unseen:
		j.miss(o, r.Subject, where+" could not be seen: "+r.Wrong, remedyFor(r.Wrong))
	case r.NoKind:
		j.fail(o, r.Subject, where+": "+r.Wrong+waited, "install what brings the kind, or correct apiVersion and kind in "+op.At.String())
	case r.Wrong != "":
		j.fail(o, r.Subject, where+": "+r.Wrong+waited, "correct the assertion, or what it looks at, so that it can be evaluated")
	case len(r.Fields) > 0:
		j.fail(o, r.Subject, where+": "+fieldsText(r.Fields)+waited, "see what the expression reads, and correct that")
	case len(r.Objects) == 0 && op.Kind == assertion.Assert:
		j.fail(o, r.Subject, where+": is not there"+waited, "see why the component did not make it: its release, its operator's log, the events of its namespace")
	case len(r.Objects) == 0:
		j.fail(o, r.Subject, where+": the expression holds, and must not"+waited, "see what the expression reads, and correct that")
	default:
		j.objects(o, op, r, where, waited)
	}
}

func (j *judge) objects(o check.Observation, op *assertion.Operation, r assertion.Result, where, waited string) {
	for _, object := range r.Objects {
		switch {
		case op.Kind == assertion.Error && object.Matches:
			j.fail(o, object.Name, where+": is there, and must not be"+waited, "kubectl describe it: "+object.Name)
		case op.Kind == assertion.Assert && !object.Matches:
			j.fail(o, object.Name, where+": "+fieldsText(object.Fields)+waited, "kubectl describe it, and its pods: "+object.Name)
		}
	}
}

// fieldsText are the engine's own lines, with what the expressions read.
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

// remedyFor says what to do about a read that failed.
func remedyFor(err string) string {
	if strings.Contains(err, "forbidden") {
		return "give the user of this kubeconfig the permissions that firstlight's RBAC lists"
	}
	return "make the API server reachable with this kubeconfig, then run the step again"
}
