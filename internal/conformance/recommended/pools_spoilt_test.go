package recommended

import (
	"testing"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/checktest"
	"github.com/firstlight/firstlight/internal/plan"
)

// The verdict depends on every field of a pool that answers, except for those that are listed
// here with the reason.
func TestEveryFieldOfPools(t *testing.T) {
	t.Parallel()
	obs := []check.Observation{
		observation(t, kindPoolAPI, poolAPI{Version: "v1"}),
		observation(t, kindPools, []pool{healthyPool()}),
		observation(t, kindRequest, ModelAnswer{Service: "llm/gw:80", Models: []string{"Qwen/Qwen3-0.6B"}, Done: true, Tokens: 1}),
	}
	checktest.EveryField(t, "spoilt-pools", func(obs []check.Observation) check.Judgement { return plan.Judge(&Pools{}, obs) }, obs, checktest.Harmless{
		"it names the subject for the reader": {`inference-api.* .version: another text`, `inference-pools.* .(name|namespace|picker|servers|parents.gateway|parents.namespace|parents.service): .*`, `request-to-a-model.* .(models|service|tokens): .*`},
		"a duplicate adds nothing":            {`inference-pools.* (.parents)?: the first twice`},
		"one ready is enough":                 {`inference-pools.* .(pickerReady|ready): .*`},
	})
}
