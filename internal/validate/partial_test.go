package validate

import (
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/accept"
	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/pipeline"
)

// Regression: with one of nine requirements checked the row of all nine was passed, and with
// all of them not applicable the exit code was 0.
func TestAPartIsNotTheStep(t *testing.T) {
	t.Parallel()
	c := caseFor(t, pipeline.Training, 32)
	step := func(w accept.Report) (Report, Step) {
		r, err := c.Report(w)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range r.Steps {
			if s.Name == stepConformance {
				return r, s
			}
		}
		t.Fatalf("no step %s in %+v", stepConformance, r.Steps)
		return r, Step{}
	}
	if _, s := step(accept.Report{Run: "r", Verdict: check.Passed, Gates: []accept.Gate{{Gate: "dra_support", Verdict: check.Passed, Reason: "ok"}}}); s.Verdict != check.Unobserved || !strings.Contains(s.Reason, "1 of 9 shown, 8 not checked") {
		t.Errorf("one alone: %s: %s", s.Verdict, s.Reason)
	}
	full := reportOf(c, check.Passed, nil)
	if _, s := step(full); s.Verdict != check.Passed {
		t.Errorf("all: %s: %s", s.Verdict, s.Reason)
	}
	for i, g := range full.Gates {
		if g.Gate == "gang_scheduling" {
			full.Gates = append(full.Gates[:i:i], full.Gates[i+1:]...)
			break
		}
	}
	if _, s := step(full); s.Verdict != check.Unobserved || !strings.Contains(s.Reason, "1 not checked") {
		t.Errorf("one missing: %s: %s", s.Verdict, s.Reason)
	}
	ids, err := Requirements(c.Version)
	if err != nil {
		t.Fatal(err)
	}
	none := map[string]check.Verdict{}
	for _, id := range ids {
		none[id] = check.NotApplicable
	}
	r, s := step(reportOf(c, check.Passed, none))
	through, err := r.Through(stepConformance)
	if err != nil || s.Verdict != check.NotApplicable || through.Verdict != check.Unobserved {
		t.Errorf("all excused: step %s, through it %s, %v", s.Verdict, through.Verdict, err)
	}
}
