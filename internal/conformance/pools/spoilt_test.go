package pools

import (
	"testing"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/checktest"
	"github.com/firstlight/firstlight/internal/conformance/answering"
)

// Every field of a pool that answers is demanded, or it is said here why not.
func TestEveryField(t *testing.T) {
	t.Parallel()
	obs := []check.Observation{
		observation(t, kindServed, api{Version: "v1"}),
		observation(t, kindPools, []pool{whole()}),
		observation(t, kindRequest, answering.Answer{Service: "llm/gw:80", Models: []string{"Qwen/Qwen3-0.6B"}, Done: true, Tokens: 1}),
	}
	checktest.EveryField(t, "spoilt", (&Check{}).Judge, obs, checktest.Harmless{})
}
