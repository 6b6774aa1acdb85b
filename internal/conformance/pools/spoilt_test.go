package pools

import (
	"testing"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/checktest"
	"github.com/firstlight/firstlight/internal/conformance/answering"
	"github.com/firstlight/firstlight/internal/plan"
)

// Every field of a pool that answers is demanded, or it is said here why not.
func TestEveryField(t *testing.T) {
	t.Parallel()
	obs := []check.Observation{
		observation(t, kindServed, api{Version: "v1"}),
		observation(t, kindPools, []pool{whole()}),
		observation(t, kindRequest, answering.Answer{Service: "llm/gw:80", Models: []string{"Qwen/Qwen3-0.6B"}, Done: true, Tokens: 1}),
	}
	checktest.EveryField(t, "spoilt", func(obs []check.Observation) check.Judgement { return plan.Judge(&Check{}, obs) }, obs, checktest.Harmless{
		"it names what is looked at, for people": {`inference-api.* .version: another text`, `inference-pools.* .(name|namespace|picker|servers|parents.gateway|parents.namespace|parents.service): .*`, `request-to-a-model.* .(models|service|tokens): .*`},
		"said twice is not more":                 {`inference-pools.* (.parents)?: the first twice`},
		"one ready is enough":                    {`inference-pools.* .(pickerReady|ready): .*`},
	})
}
