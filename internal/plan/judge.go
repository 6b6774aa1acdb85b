package plan

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/pregate/playbook"
)

// The kinds of the Observations that the engine records. A Check's Judge does not get them.
const (
	// KindPrepare is the output of a Prepare.
	KindPrepare = "prepare"
	// KindError is the error, or the panic, that Observe ended with.
	KindError = "error"
	// PreparedPrefix begins the kinds of an ObservingPrepare.
	PreparedPrefix = KindPrepare + "-"
)

// Judge is the judgement of a step from its stored observations: the Check's own, validated
// by rules that apply to every Check. It is pure; a replay calls it too.
func Judge(c check.Check, obs []check.Observation) check.Judgement {
	return judgeStep(c, playbook.Expected{}, obs)
}

// judgeStep is Judge for a step with playbooks.
func judgeStep(c check.Check, playbooks playbook.Expected, obs []check.Observation) check.Judgement {
	j := judge(c, obs)
	applied, once, ok := playbooksSafely(obs, playbooks)
	switch {
	case ok && applied.Verdict == check.Passed:
		j.Findings = append(j.Findings, applied.Findings...) // notes
	case ok:
		j = withPlaybooks(applied, j, obs)
	}
	for _, p := range once {
		note := playbook.NoSecondRun(p)
		if j.Reason += " (" + note + ")"; j.Verdict == check.Passed {
			j.Lowered = append(j.Lowered, note)
		}
	}
	if failed := unprepared(obs); j.Verdict != check.Passed && len(failed) > 0 {
		// Its command is in the finding: a table of verdicts has no room for it and the cause.
		j.Reason = "preparation failed: " + failed[0].Message + "; " + j.Reason
		j.Findings = append(failed, j.Findings...)
	}
	return j
}

// playbooksSafely turns a panic into an unobserved judgement.
func playbooksSafely(obs []check.Observation, want playbook.Expected) (j check.Judgement, once []string, ok bool) {
	defer func() {
		if p := recover(); p != nil {
			reason := fmt.Sprintf("judging the playbooks panicked: %v", p)
			j, ok = check.NotObserved(reason, check.Finding{
				Suspect: "preparations", Message: reason, Remedy: "this is a defect of the judge itself: report it with the run's evidence",
			}), true
		}
	}()
	return playbook.Judge(obs, want)
}

// withPlaybooks is the judgement of a step whose playbooks did not pass, whatever its check observed. A
// check that was not observed adds no finding.
func withPlaybooks(applied, j check.Judgement, obs []check.Observation) check.Judgement {
	if recorded, observeErr := split(obs); len(recorded) == 0 && observeErr == "" {
		return applied
	}
	if j.Verdict == check.Failed {
		applied.Verdict = check.Failed
	}
	if j.Verdict != check.Passed {
		applied.Findings = append(applied.Findings, j.Findings...)
	}
	return applied
}

func judge(c check.Check, obs []check.Observation) check.Judgement {
	recorded, observeErr := split(obs)
	if len(recorded) == 0 {
		if observeErr != "" {
			return check.NotObserved(observeErr, observeFinding(c.Name(), observeErr))
		}
		return check.NotObserved("nothing was observed", observeFinding(c.Name(), "the check recorded no observation"))
	}
	j := judgeSafely(c, recorded)
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

// unprepared are findings for preparations that failed. Their exit status decides no verdict, and is
// often the cause of one.
func unprepared(obs []check.Observation) []check.Finding {
	var out []check.Finding
	for _, o := range obs {
		if why := failure(o); why != "" {
			out = append(out, check.Finding{
				Suspect: "preparation " + o.Command, Message: why, Observations: []string{o.ID},
				Remedy: "read its whole output in the evidence, correct it, and run the gate again",
			})
		}
	}
	return out
}

// failure is why a preparation failed: its error, or its exit status and the last line of its output.
// Empty: it did not fail, or the observation is of another kind.
func failure(o check.Observation) string {
	if o.Kind != KindPrepare || o.Err == "" && (o.Exit == nil || *o.Exit == 0) {
		return ""
	}
	if o.Err != "" {
		return o.Err
	}
	lines := strings.Split(strings.TrimSpace(string(o.Raw)), "\n")
	return fmt.Sprintf("exit status %d: %s", *o.Exit, lines[len(lines)-1])
}

// Needs are the needs of each step of a plan, by name.
type Needs map[string][]string

// Blocked is the judgement of a step with needs that are not passed, in their order. The
// needs of a not applicable step are those of the steps that need it. blocked is false if
// all are passed or partial.
func Blocked(step string, needs Needs, results map[string]Result) (j check.Judgement, blocked bool) {
	var reasons []string
	for _, need := range needs.of(step, results) {
		r, ok := results[need]
		switch {
		case !ok:
			reasons = append(reasons, need+" has no verdict")
		case !r.Verdict.Holds():
			reasons = append(reasons, fmt.Sprintf("%s is %s", need, r.Verdict))
		}
	}
	if len(reasons) == 0 {
		return check.Judgement{}, false
	}
	return check.Judgement{Verdict: check.Blocked, Reason: strings.Join(reasons, "; ")}, true
}

// of are the applicable steps that a step needs, directly or through not applicable ones. It
// ends for a stored plan with a cycle too.
func (n Needs) of(step string, results map[string]Result) []string {
	var out []string
	seen := map[string]bool{}
	var add func(step string)
	add = func(step string) {
		for _, need := range n[step] {
			if seen[need] {
				continue
			}
			seen[need] = true
			if results[need].Verdict == check.NotApplicable {
				add(need)
			} else {
				out = append(out, need)
			}
		}
	}
	add(step)
	return out
}

// NotApplicable is the judgement of a step that is not applicable.
func NotApplicable(reason string) check.Judgement {
	return check.Judgement{Verdict: check.NotApplicable, Reason: reason}
}

// split returns the Check's own observations and the error of its Observe.
func split(obs []check.Observation) (recorded []check.Observation, observeErr string) {
	for _, o := range obs {
		switch {
		case o.Kind == KindPrepare || strings.HasPrefix(o.Kind, PreparedPrefix):
		case o.Kind == KindError:
			observeErr = cmp.Or(o.Err, "observing ended with an error without a message")
		default:
			recorded = append(recorded, o)
		}
	}
	return recorded, observeErr
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

// unsound explains what is invalid in a judgement; "" for a valid one.
func unsound(j check.Judgement) string {
	switch j.Verdict {
	case check.Passed, check.Failed, check.Unobserved:
	case check.Blocked, check.NotApplicable, check.Partial:
		return fmt.Sprintf("the check returned the verdict %q, which only the plan may set", j.Verdict)
	default:
		return fmt.Sprintf("the check returned the unknown verdict %q", j.Verdict)
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
		Remedy: "make the target reachable, then run the gate again: firstlight accept --from " + name,
	}
}
