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
		checktest.When("a request without an answer in firstlight's own time is not the server's failure",
			checktest.Set(KindLoad, `.requests[0].error`, "context deadline exceeded"), checktest.Set(KindLoad, `.requests[0].timedOut`, true)).Unobserved("requests to job inference", "1 of 24 requests had no answer"),
		checktest.When("a server that cannot be reached after the load shows nothing", checktest.Set(KindEnd, `.healthy`, false), checktest.Set(KindEnd, `.unreached`, true)).Unobserved("pod inference-0-abcde on gpu-02", "could not be reached after the load"),
		checktest.When("the models are answered", checktest.Set(KindModels, `.failure`, "HTTP status 500")).Fails("server of job inference", "/v1/models: the request failed: HTTP status 500"),
		checktest.When("the completion is answered", checktest.Set(KindCompletion, `.failure`, "HTTP status 500")).Fails("server of job inference", "the request failed: HTTP status 500"),
		checktest.When("an answer that cannot be decoded is not a failure of the server", checktest.Set(KindModels, `.models`, 7), checktest.Set(KindModels, `.failure`, "HTTP status 500")).Unobserved("server of job inference", "could not be observed"),
		checktest.When("a completion that is exactly the golden prefix passes", checktest.Set(KindCompletion, `.text`, " Paris")).Passes(),
		checktest.When("a warm-up request without an answer in firstlight's own time shows nothing",
			checktest.Set(KindLoad, `.warmupRequests[0].error`, "context deadline exceeded"), checktest.Set(KindLoad, `.warmupRequests[0].timedOut`, true)).Unobserved("requests to job inference", "1 of 24 requests had no answer"),
		checktest.When("the latency of a request without an answer is not judged", checktest.Set(KindLoad, `.requests[0].timedOut`, true), checktest.Set(KindLoad, `.requests[0].ttftMs`, 9000)).Unobserved("requests to job inference", "1 of 24 requests had no answer"),
		checktest.When("without answers no latency was measured", checktest.Set(KindLoad, `.requests[*].timedOut`, true)).Unobserved("job inference", "no latency was measured"),
		checktest.When("failed requests are counted, and the first error is reported",
			checktest.Set(KindLoad, `.requests[2].error`, "HTTP status 500"), checktest.Set(KindLoad, `.requests[5].error`, "HTTP status 503")).Fails("requests to job inference", "2 of 20 requests failed, the first with: HTTP status 500"),
		checktest.When("a server that was never reached shows nothing", checktest.Set(KindServer, `.healthy`, false), checktest.Set(KindServer, `.unreached`, true)).Unobserved("pod inference-0-abcde on gpu-02", "could not be reached for 40 s"),
		checktest.When("a server that restarts and is not reached fails", checktest.Set(KindServer, `.healthy`, false), checktest.Set(KindServer, `.unreached`, true), checktest.Set(KindServer, `.restarts`, 1)).Fails("pod inference-0-abcde on gpu-02", "not healthy after 40 s"),
		checktest.When("the server is healthy after the load", checktest.Set(KindEnd, `.healthy`, false)).Fails("pod inference-0-abcde on gpu-02", "not healthy after the load"),
	})
}
