package gpustack

import (
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/check"
)

// A Ready condition without a generation is not known to be of the policy as it is: a pass
// read as if it were.
func TestAPassSaysThatTheGenerationIsNotKnown(t *testing.T) {
	t.Parallel()
	g := gate(t)
	for generation, says := range map[int64]bool{0: true, 2: false} {
		var c conclusions
		p := policyFigures{Found: true, State: "ready", Generation: 2, Conditions: []policyCondition{
			{Type: "Ready", Status: "True", Reason: reconciled, ObservedGeneration: generation},
		}}
		g.judgePolicy(&c, check.Observation{}, p)
		if j := c.judgement(4); j.Verdict != check.Passed || strings.Contains(j.Reason, "does not say") != says {
			t.Errorf("generation %d: %s: %s", generation, j.Verdict, j.Reason)
		}
	}
}
