package recommended

import (
	"testing"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/checktest"
	"github.com/firstlight/firstlight/internal/plan"
)

// The verdict depends on every field of disaggregated serving, except for those
// that are listed here with the reason.
func TestEveryFieldOfDisaggregated(t *testing.T) {
	t.Parallel()
	obs := []check.Observation{
		observation(t, kindOperators, operatorsOf("v1alpha1", inferenceObject{Name: "llm/qwen", Ready: true})),
		observation(t, kindPhases, phasePods(prefill, decode)),
		observation(t, kindRequest, []ModelAnswer{{Service: "llm/frontend:8000", Models: []string{"Qwen/Qwen3-0.6B"}, Done: true}}),
	}
	checktest.EveryField(t, "spoilt-disaggregated", func(obs []check.Observation) check.Judgement { return plan.Judge(&Disaggregated{}, obs) }, obs, checktest.Harmless{
		"no operator is required if prefill and decode run": {`inference-operators.*: .*`},
		"it names the subject for the reader":               {`phases.* .pod: .*`, `request-to-a-model.* .(models|service): .*`},
		"a duplicate adds nothing":                          {`(phases|request-to-a-model).* : the first twice`},
	})
}
