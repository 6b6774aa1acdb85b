package plan

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/firstlight/firstlight/internal/check"
)

// The kinds of the Observations that the engine itself records. They are no
// business of a Check's Judge.
const (
	// KindPrepare is the output of a Prepare.
	KindPrepare = "prepare"
	// KindError is the error, or the panic, that Observe ended with.
	KindError = "error"
)

// Judge is the engine's whole judgement of a step from its stored
// observations: what the Check says, held to the rules that no Check may
// break. It is pure, and is what a replay calls.
func Judge(c check.Check, obs []check.Observation) check.Judgement {
	seen, observeErr := split(obs)
	if len(seen) == 0 {
		if observeErr != "" {
			return check.NotObserved(observeErr, observeFinding(c.Name(), observeErr))
		}
		return check.NotObserved("nothing was observed", observeFinding(c.Name(), "the check recorded no observation"))
	}
	j := judgeSafely(c, seen)
	if problem := unsound(j); problem != "" {
		return check.NotObserved(problem, check.Finding{
			Suspect: "check " + c.Name(), Message: problem,
			Remedy: "this is a defect of the check itself: report it with the run's evidence",
		})
	}
	if j.Verdict == check.Failed && len(j.Findings) == 0 {
		j.Findings = check.Fail(j.Reason).Findings
	}
	if observeErr != "" && j.Verdict != check.Failed {
		j.Verdict = check.Unobserved
		j.Reason = observeErr
		j.Findings = append(j.Findings, observeFinding(c.Name(), observeErr))
	}
	return lowered(c, j)
}

// Blocked is the judgement of a step with needs that are not cleared, in the
// order in which it needs them; ok is false when all are.
func Blocked(needs []string, results map[string]Result) (j check.Judgement, blocked bool) {
	var why []string
	for _, need := range needs {
		r, ok := results[need]
		switch {
		case !ok:
			why = append(why, need+" has no verdict")
		case !r.Clears():
			why = append(why, fmt.Sprintf("%s is %s", need, r.Verdict))
		}
	}
	if len(why) == 0 {
		return check.Judgement{}, false
	}
	return check.Judgement{Verdict: check.Blocked, Reason: strings.Join(why, "; ")}, true
}

// NotApplicable is the judgement of a step that is not applicable.
func NotApplicable(reason string) check.Judgement {
	return check.Judgement{Verdict: check.NotApplicable, Reason: reason}
}

// split separates what the Check recorded from what the engine did.
func split(obs []check.Observation) (seen []check.Observation, observeErr string) {
	for _, o := range obs {
		switch o.Kind {
		case KindPrepare:
		case KindError:
			observeErr = o.Err
		default:
			seen = append(seen, o)
		}
	}
	return seen, observeErr
}

// judgeSafely turns a panic into an unobserved judgement.
func judgeSafely(c check.Check, obs []check.Observation) (j check.Judgement) {
	defer func() {
		if p := recover(); p != nil {
			reason := fmt.Sprintf("judging %s panicked: %v", c.Name(), p)
			j = check.NotObserved(reason, check.Finding{
				Suspect: "check " + c.Name(), Message: reason,
				Remedy: "this is a defect of the check itself: report it with the run's evidence",
			})
		}
	}()
	return c.Judge(obs)
}

// unsound says what no judgement may be.
func unsound(j check.Judgement) string {
	switch j.Verdict {
	case check.Passed, check.Failed, check.Unobserved:
	case check.Blocked, check.NotApplicable:
		return fmt.Sprintf("the check judged itself %q, which is for the plan to say", j.Verdict)
	default:
		return fmt.Sprintf("the check's verdict %q is none", j.Verdict)
	}
	for _, f := range j.Figures {
		if !finite(f.Value) || !finite(f.Limit) {
			return impossible(f)
		}
		if j.Verdict != check.Passed {
			continue
		}
		if problem := cmp.Or(impossible(f), contradicts(f)); problem != "" {
			return problem
		}
	}
	return ""
}

func observeFinding(name, reason string) check.Finding {
	return check.Finding{
		Suspect: "check " + name, Message: reason,
		Remedy: "make what could not be reached reachable, then walk again: firstlight accept --from " + name,
	}
}
