package plan

import (
	"testing"

	"github.com/firstlight/firstlight/internal/check"
)

func TestARecommendedStepWithoutAVerdictIsNoPass(t *testing.T) {
	t.Parallel()
	p := Plan{Name: "p", Steps: []Step{{Check: fakeCheck{name: "a"}, Recommended: true}, {Check: fakeCheck{name: "b"}}}}
	for from, want := range map[string]check.Verdict{"": check.Passed, "a": check.Passed, "b": check.Unobserved} {
		if out, _ := runPlan(t, &Executor{Plan: p, From: from}); out.Verdict != want {
			t.Errorf("from %q: %s, want %s", from, out.Verdict, want)
		}
	}
}
