package evidence

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/plan"
	"github.com/firstlight/firstlight/internal/pregate/playbook"
)

// ChecksFor derives the checks of a run from its inputs. The checks can judge but not observe.
type ChecksFor func(b *Bundle) (Derived, error)

// TamperedError is returned for a run whose files were changed.
type TamperedError struct{ Problems Problems }

func (e *TamperedError) Error() string {
	return "the run was changed since it was written:\n" + e.Problems.String()
}

// Replayed is the result of Replay.
type Replayed struct {
	Run string `json:"run"`
	// Unfinished: the run has no manifest, so its files are not verified.
	Unfinished bool           `json:"unfinished,omitempty"`
	Steps      []ReplayedStep `json:"steps"`
	// Verdict is the stored overall verdict, Again the replayed one.
	Verdict check.Verdict `json:"verdict"`
	Again   check.Verdict `json:"again"`
	// Plan are the differences between the plan and the plan that the inputs require.
	Plan []PlanProblem `json:"plan,omitempty"`
	// Unchecked is why a part of the inputs was not compared; empty: all was.
	Unchecked string `json:"unchecked,omitempty"`
	// Planned: the inputs determine a plan.
	Planned bool `json:"planned"`
	// Claims are the statements of run.json and their basis.
	Claims []Claim `json:"claims,omitempty"`
	// Contradictions are statements of the run that its observations contradict.
	Contradictions []Contradiction `json:"contradictions,omitempty"`
}

// ReplayedStep is the comparison of one verdict.
type ReplayedStep struct {
	Step   string          `json:"step"`
	Stored check.Judgement `json:"stored"`
	Again  check.Judgement `json:"again"`
	// Difference is empty if both are equal in every figure and finding.
	Difference string `json:"difference,omitempty"`
}

// Identical reports whether every verdict, figure and finding is equal, the plan is the one that
// the inputs require, and nothing contradicts the observations.
func (r Replayed) Identical() bool {
	for _, s := range r.Steps {
		if s.Difference != "" {
			return false
		}
	}
	return len(r.Steps) > 0 && r.Verdict == r.Again && len(r.Plan) == 0 && len(r.Contradictions) == 0
}

// Replay judges the run in dir again from its stored observations. It first verifies the files:
// TamperedError.
func Replay(dir string, checksFor ChecksFor) (Replayed, error) {
	problems, err := Verify(dir)
	if err != nil {
		return Replayed{}, err
	}
	unfinished := len(problems) == 1 && problems[0].What == NoManifest
	if len(problems) > 0 && !unfinished {
		return Replayed{}, &TamperedError{Problems: problems}
	}
	b, err := Load(dir)
	if err != nil {
		return Replayed{}, err
	}
	derived, err := checksFor(b)
	if err != nil {
		return Replayed{}, fmt.Errorf("replay run %s: derive its checks: %w", b.Header.Run, err)
	}
	byName := map[string]check.Check{}
	for _, c := range derived.Checks {
		byName[c.Name()] = c
	}
	out := Replayed{
		Run: b.Header.Run, Unfinished: unfinished, Verdict: b.Verdict(), Plan: b.ComparePlan(derived), Planned: len(derived.Plan.Steps) > 0,
		Unchecked: derived.Unchecked, Claims: derived.Claims, Contradictions: derived.Contradictions,
	}
	if err := b.replay(byName, derived.Playbooks, &out); err != nil {
		return Replayed{}, fmt.Errorf("replay run %s: %w", b.Header.Run, err)
	}
	return out, nil
}

// Rejudge judges the stored observations of these steps again, with the checks of order.
func (b *Bundle) Rejudge(steps []string, order []plan.Step) ([]ReplayedStep, error) {
	checks, playbooks := map[string]check.Check{}, map[string]playbook.Expected{}
	for _, s := range order {
		checks[s.Name()], playbooks[s.Name()] = s.Check, s.Playbooks
	}
	part := *b
	part.Plan.Steps = slices.DeleteFunc(slices.Clone(b.Plan.Steps), func(s PlanStep) bool { return !slices.Contains(steps, s.Name) })
	part.Entries = slices.DeleteFunc(slices.Clone(b.Entries), func(e Entry) bool { return e.Type == EntryAbandoned && !slices.Contains(steps, e.Step) })
	var out Replayed
	if err := part.replay(checks, playbooks, &out); err != nil {
		return nil, fmt.Errorf("judge run %s again: %w", b.Header.Run, err)
	}
	return out.Steps, nil
}

// replay judges every step in the order of execution.
func (b *Bundle) replay(checks map[string]check.Check, playbooks map[string]playbook.Expected, out *Replayed) error {
	stored := b.state().results
	replayed := map[string]plan.Result{}
	index, err := b.index()
	if err != nil {
		return err
	}
	for _, s := range b.Plan.Steps {
		was, ok := stored[s.Name]
		if !ok {
			continue
		}
		j, err := b.judgeAgain(s, index.of(was), checks, playbooks, replayed)
		if err != nil {
			return err
		}
		replayed[s.Name] = plan.Result{Step: s.Name, Judgement: j}
		differ := difference(was.Judgement, j)
		if err := index.compare(was); err != nil {
			differ = strings.TrimPrefix(differ+"; "+err.Error(), "; ")
		}
		out.Steps = append(out.Steps, ReplayedStep{Step: s.Name, Stored: was.Judgement, Again: j, Difference: differ})
	}
	out.Again = b.overall(replayed)
	earlier, err := b.replayAbandoned(index, checks, playbooks, replayed)
	out.Steps = append(out.Steps, earlier...)
	return err
}

// judgeAgain judges one step by the rules of the engine, from the recorded observations of
// its attempt.
func (b *Bundle) judgeAgain(s PlanStep, recorded []string, checks map[string]check.Check, playbooks map[string]playbook.Expected, before map[string]plan.Result) (check.Judgement, error) {
	if s.NotApplicable != "" {
		return plan.NotApplicable(s.NotApplicable), nil
	}
	if b.Header.Only == "" {
		if j, blocked := plan.Blocked(s.Name, b.Plan.needs(), before); blocked {
			return j, nil
		}
	}
	c, ok := checks[s.Name]
	if !ok {
		return check.Judgement{}, fmt.Errorf("this firstlight has no check %q", s.Name)
	}
	obs, err := b.Observations(recorded)
	if err != nil {
		return check.Judgement{}, err
	}
	return plan.JudgePart(c, playbooks[s.Name], obs, b.Plan.needs().LeftOut(s.Name, before), b.Plan.AllowFailed), nil
}

// difference compares two judgements as they are stored.
func difference(stored, again check.Judgement) string {
	a, errA := json.Marshal(stored)
	b, errB := json.Marshal(again)
	switch {
	case errA != nil || errB != nil:
		return fmt.Sprintf("cannot be compared: %v %v", errA, errB)
	case bytes.Equal(a, b):
		return ""
	case stored.Verdict != again.Verdict:
		return fmt.Sprintf("verdict %s, now %s: %s", stored.Verdict, again.Verdict, again.Reason)
	case stored.Reason != again.Reason:
		return fmt.Sprintf("reason %q, now %q", stored.Reason, again.Reason)
	default:
		return fmt.Sprintf("same verdict, other figures or findings: %s, now %s", a, b)
	}
}
