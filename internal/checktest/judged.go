package checktest

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/check"
)

// Judged requires a verdict: a pass without findings, or another verdict with a finding that has a
// remedy, the suspect ("" is any) and a message that contains says.
func Judged(t *testing.T, j check.Judgement, want check.Verdict, suspect, says string) {
	t.Helper()
	if j.Verdict != want {
		t.Fatalf("%s (%s), want %s: %+v", j.Verdict, j.Reason, want, j.Findings)
	}
	if want == check.Passed {
		if len(j.Findings) > 0 {
			t.Errorf("findings of a pass: %+v", j.Findings)
		}
		return
	}
	if !slices.ContainsFunc(j.Findings, func(f check.Finding) bool {
		return (suspect == "" || f.Suspect == suspect) && strings.Contains(f.Message, says) && f.Remedy != ""
	}) {
		t.Errorf("no finding names %q with %q: %+v", suspect, says, j.Findings)
	}
}

// Observed collects observations.
type Observed struct {
	T *testing.T
	// Errs are the errors of observations that failed, by KIND/TARGET.
	Errs map[string]string
	// List has an ID for each observation.
	List []check.Observation
}

// Add adds an observation unless present is false.
func (o *Observed) Add(kind, target string, present bool, figures any) {
	o.T.Helper()
	if !present {
		return
	}
	obs := check.Observation{ID: fmt.Sprintf("%04d", len(o.List)+1), Kind: kind, Target: target, Err: o.Errs[kind+"/"+target]}
	if obs.Err == "" {
		var err error
		if obs, err = obs.WithFigures(figures); err != nil {
			o.T.Fatal(err)
		}
	}
	o.List = append(o.List, obs)
}
