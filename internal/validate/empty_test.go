package validate

import (
	"errors"
	"testing"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/conformance"
	"github.com/firstlight/firstlight/internal/pipeline"
	"github.com/firstlight/firstlight/internal/plan"
)

// A case without a recipe has no plan, and an empty recipe passes no step about the recipe.
func TestACaseWithoutStepsDoesNotPass(t *testing.T) {
	t.Parallel()
	s, p := labSite(t)
	if _, err := (Case{}).Plan(s, p, conformance.Deps{}); err == nil {
		t.Error("a case of nothing is planned")
	}
	if _, err := (Case{Version: "1.36"}).Plan(s, p, conformance.Deps{}); !errors.Is(err, plan.ErrInvalid) {
		t.Errorf("a case without steps is planned: %v", err)
	}
	c := caseFor(t, pipeline.Training, 32)
	c.Resources, c.Health = nil, nil
	judges, err := c.Judges(s, p)
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, judge := range judges {
		if name := judge.Name(); name != "resources" && name != "health" {
			continue
		}
		seen++
		if j := judge.Judge(nil); j.Verdict == check.Passed {
			t.Errorf("%s of a recipe with nothing in it: %s", judge.Name(), j.Reason)
		}
	}
	if seen != 2 {
		t.Errorf("%d of 2 steps are about the recipe", seen)
	}
}
