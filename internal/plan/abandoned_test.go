package plan

import (
	"errors"
	"slices"
	"testing"

	"github.com/firstlight/firstlight/internal/check"
)

// The observations of an attempt without a verdict are judged before the step is observed again, and the
// verdict is that of the new observations.
func TestAbandonedAttemptsAreJudged(t *testing.T) {
	t.Parallel()
	store := newMemStore()
	b := fakeCheck{name: "b", judge: func(obs []check.Observation) check.Judgement {
		if obs[0].Kind == "bad" {
			return check.Fail("bad")
		}
		return check.Pass("seen")
	}}
	store.abandoned["b"], store.attempts["b"] = 1, 1
	store.obs["b1"] = []check.Observation{{ID: "b-1-1", Check: "b", Kind: "bad"}}
	out, _ := runPlan(t, &Executor{Plan: linear(fakeCheck{name: "a"}, b), Store: store})
	judged, begun := slices.Index(store.log, "abandon failed 1 b"), slices.Index(store.log, "begin b")
	if judged < 0 || begun < judged {
		t.Errorf("the store received %q", store.log)
	}
	if got := out.Results[1]; out.Verdict != check.Passed || got.Attempt != 2 || !slices.Equal(got.Observations, []string{"b-2-1"}) {
		t.Errorf("%+v", out)
	}

	store = newMemStore()
	store.abandoned["b"] = 1
	store.fail = func(what, _ string) error {
		if what == "abandon unobserved 1" {
			return errors.New("the disk is full")
		}
		return nil
	}
	if _, err := (&Executor{Plan: linear(fakeCheck{name: "b"}), Store: store}).Run(t.Context()); err == nil || slices.Contains(store.log, "begin b") {
		t.Errorf("observed again although the attempt was not journaled: %v, %q", err, store.log)
	}
}
