package inference

import (
	"testing"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/checktest"
	"github.com/firstlight/firstlight/internal/plan"
)

// TestRules covers the requirements on a server, one field at a time.
func TestRules(t *testing.T) {
	t.Parallel()
	g := testGate(t, testSite())
	checktest.Rules(t, func(obs []check.Observation) check.Judgement { return plan.Judge(g, obs) }, served(t, g), []checktest.Rule{
		checktest.When("half of the rate is another load", checktest.Set(KindLoad, `.ratePerSecond`, 100)).Unobserved("job inference", "the load differs from the site's"),
		checktest.When("less at a time is another load", checktest.Set(KindLoad, `.concurrency`, 4)).Unobserved("job inference", "the load differs from the site's"),
		checktest.When("shorter prompts are another load", checktest.Set(KindLoad, `.inputTokens`, 8)).Unobserved("job inference", "the load differs from the site's"),
		checktest.When("shorter answers are another load", checktest.Set(KindLoad, `.outputTokens`, 2)).Unobserved("job inference", "the load differs from the site's"),
		checktest.When("fewer requests are another load", checktest.Set(KindLoad, `.asked`, 10)).Unobserved("job inference", "the load differs from the site's"),
		checktest.When("the warm-up is part of the load", checktest.Set(KindLoad, `.warmupRequests`, nil)).Unobserved("job inference", "0 warm-up requests were sent, the site requires 4"),
		checktest.When("a completion of another prompt shows nothing", checktest.Set(KindCompletion, `.prompt`, "2 + 2 =")).Unobserved("site workloads.inference.prompt", "another prompt"),
		checktest.When("the server is healthy after the load", checktest.Set(KindEnd, `.healthy`, false)).Fails("pod inference-0-abcde on gpu-02", "not healthy after the load"),
	})
}
