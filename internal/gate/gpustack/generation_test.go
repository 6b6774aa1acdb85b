package gpustack

import (
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/check"
)

// A pass reports a Ready condition without observedGeneration, which may describe an older
// generation of the policy.
func TestPassReportsUnknownGeneration(t *testing.T) {
	t.Parallel()
	g := gate(t)
	for generation, says := range map[int64]bool{0: true, 2: false} {
		var b check.Builder
		p := policyFigures{Found: true, State: "ready", Generation: 2, Conditions: []policyCondition{
			{Type: "Ready", Status: "True", Reason: reconciled, ObservedGeneration: generation},
		}}
		remark := g.judgePolicy(&b, check.Observation{}, p)
		if j := b.Judgement("reconciled"); j.Verdict != check.Passed || strings.Contains(remark, "is unknown") != says {
			t.Errorf("generation %d: %s: %s%s", generation, j.Verdict, j.Reason, remark)
		}
	}
}
