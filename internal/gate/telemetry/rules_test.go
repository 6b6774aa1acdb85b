package telemetry

import (
	"testing"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/checktest"
	"github.com/firstlight/firstlight/internal/plan"
)

// TestRules covers the requirements on telemetry, one field at a time.
func TestRules(t *testing.T) {
	t.Parallel()
	g := gate(t)
	checktest.Rules(t, func(obs []check.Observation) check.Judgement { return plan.Judge(g, obs) }, healthy(g).observations(t), []checktest.Rule{
		checktest.When("the GPU behind an index stays the same under load", checktest.Set("gpu-series@under-load", `.series[0].uuid`, "GPU-other")).Fails("gpu-01/gpu0", "has a series only under load"),
		checktest.When("an answer says when its first samples were taken", checktest.Set(kindAnswers, `.answers[0].hosts["gpu-02"].oldest`, checktest.LeftOut)).Unobserved("Prometheus' replicas", "no timestamps of the samples of gpu-02"),
		checktest.When("an answer after others says it, too", checktest.Set(kindAnswers, `.answers[last].hosts["gpu-02"].oldest`, checktest.LeftOut)).Unobserved("Prometheus' replicas", "no timestamps of the samples of gpu-02"),
		checktest.When("a load without its namespace leaves unknown which pods are its own", checktest.Set("gpu-load@cluster", `.namespace`, checktest.LeftOut)).Unobserved("the load", "its namespace is unknown"),
		checktest.When("the same of a partial load", checktest.Set("gpu-load@partial-1", `.namespace`, "")).Unobserved("the load", "its namespace is unknown"),
		checktest.When("requests not counted before the alert may all be older than it", checktest.Set("notifications@before", `.delivered`, checktest.LeftOut)).Unobserved("receiver on-call", "does not count the requests of webhook"),
		checktest.When("a negative number of deliveries", checktest.Set("notifications@before", `.delivered.webhook`, -1)).Unobserved("receiver on-call", "does not count the requests of webhook"),
		checktest.When("the first notification of a kind makes its counters", checktest.Set("notifications@before", `.delivered`, checktest.LeftOut), checktest.Set("notifications@before", `.total`, checktest.LeftOut)).Passes(),
	})
}
