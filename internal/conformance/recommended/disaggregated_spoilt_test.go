package recommended

import (
	"testing"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/checktest"
	"github.com/firstlight/firstlight/internal/plan"
)

// Every field of what runs disaggregated is demanded, or it is said here why not.
func TestEveryFieldOfDisaggregated(t *testing.T) {
	t.Parallel()
	obs := []check.Observation{
		observation(t, kindOperators, operatorsOf("v1alpha1", inferenceObject{Name: "llm/qwen", Ready: true})),
		observation(t, kindPhases, phasePods(prefill, decode)),
		observation(t, kindRequest, []ModelAnswer{{Service: "llm/frontend:8000", Models: []string{"Qwen/Qwen3-0.6B"}, Done: true}}),
	}
	checktest.EveryField(t, "spoilt-disaggregated", func(obs []check.Observation) check.Judgement { return plan.Judge(&Disaggregated{}, obs) }, obs, checktest.Harmless{
		"an operator is not demanded, where prefill and decode run": {`inference-operators.*: .*`},
		"it names what is looked at, for people":                    {`phases.* .pod: .*`, `request-to-a-model.* .(models|service): .*`},
		"said twice is not more":                                    {`(phases|request-to-a-model).* : the first twice`},
	})
}
