package telemetry

import (
	"testing"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/checktest"
	"github.com/firstlight/firstlight/internal/plan"
)

// What telemetry must show, one field at a time.
func TestRules(t *testing.T) {
	t.Parallel()
	g := gate(t)
	checktest.Rules(t, func(obs []check.Observation) check.Judgement { return plan.Judge(g, obs) }, healthy(g).observations(t), []checktest.Rule{
		checktest.When("the GPU behind an index stays the same under load", checktest.Set("gpu-series@under-load", `.series[0].uuid`, "GPU-other")).Fails("gpu-01/gpu0", "has a series only under load"),
	})
}
