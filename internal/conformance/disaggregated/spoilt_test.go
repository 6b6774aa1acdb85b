package disaggregated

import (
	"testing"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/checktest"
	"github.com/firstlight/firstlight/internal/conformance/answering"
)

// Every field of what runs disaggregated is demanded, or it is said here why not.
func TestEveryField(t *testing.T) {
	t.Parallel()
	obs := []check.Observation{
		observation(t, kindOperators, operators("v1alpha1", object{Name: "llm/qwen", Ready: true})),
		observation(t, kindPhases, pods(prefill, decode)),
		observation(t, kindRequest, []answering.Answer{{Service: "llm/frontend:8000", Models: []string{"Qwen/Qwen3-0.6B"}, Done: true}}),
	}
	checktest.EveryField(t, "spoilt", (&Check{}).Judge, obs, checktest.Harmless{})
}
