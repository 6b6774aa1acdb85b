package training

import (
	"testing"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/checktest"
	"github.com/firstlight/firstlight/internal/plan"
)

// TestRules covers the requirements on a job of torchtitan, one field at a time.
func TestRules(t *testing.T) {
	t.Parallel()
	g := testGate(t, testSite(frameworkTorchtitan))
	_, obs := observeAndJudge(t, g, fakeTrainer{})
	checktest.Rules(t, func(obs []check.Observation) check.Judgement { return plan.Judge(g, obs) }, obs, []checktest.Rule{
		checktest.When("a job of fewer GPUs is not the site's", checktest.Set(KindJob, `.gpusPerNode`, 4)).Unobserved("job training", "the site requires 4 with 8"),
		checktest.When("a job of fewer pods is not the site's", checktest.Set(KindJob, `.pods`, 3)).Unobserved("job training", "the site requires 4 with 8"),
		checktest.When("a job of fewer steps is not the site's", checktest.Set(KindJob, `.steps`, 30)).Unobserved("job training", "for 30 steps"),
		checktest.When("a rank that two pods print is unexpected", checktest.Set("rank-log@gpu-02", `.ranks[0].rank`, 0)).Fails("gpu-02", "rank 0 on gpu-02 is unexpected"),
		checktest.When("a rank beyond the last is unexpected", checktest.Set("rank-log@gpu-04", `.ranks[last].rank`, 32)).Fails("gpu-04", "rank 32 on gpu-04 is unexpected"),
		checktest.When("a log that was cut off says nothing", checktest.Set("rank-log@gpu-02", `.clipped`, true)).Unobserved("gpu-02", "unreadable lines"),
		checktest.When("lines that can not be read say nothing", checktest.Set("rank-log@gpu-02", `.problems`, []string{"line 7"})).Unobserved("gpu-02", "line 7"),
		checktest.When("a log that could not be read says nothing", checktest.Set("rank-log@gpu-02", `.logProblem`, "EOF")).Unobserved("gpu-02", "could not be read: EOF"),
		checktest.When("the first rank may be the late one", checktest.Set("rank-log@gpu-01", `.ranks[0].started`, "2026-11-21T01:10:00Z")).Fails("gpu-01", "rank 0 on gpu-01 started 600 s after"),
		checktest.When("the first rank may be the early one", checktest.Set("rank-log@gpu-01", `.ranks[0].started`, "2026-11-21T00:50:00Z")).Fails("", "600 s after rank 0 on gpu-01"),
		checktest.When("each step is printed", checktest.Set("rank-log@gpu-01", `.ranks[0].steps[10].step`, 10)).Unobserved("gpu-01", "rank 0 on gpu-01 printed 59 of 60 steps"),
		checktest.When("a step beyond the last replaces none", checktest.Set("rank-log@gpu-01", `.ranks[0].steps[10].step`, 11000)).Unobserved("gpu-01", "rank 0 on gpu-01 printed 59 of 60 steps"),
		checktest.When("a step before the first replaces none", checktest.Set("rank-log@gpu-01", `.ranks[0].steps[10].step`, 0)).Unobserved("gpu-01", "rank 0 on gpu-01 printed 59 of 60 steps"),
		checktest.When("no GPU multiplies beyond its peak", checktest.Set("rank-log@gpu-02", `.gpus[3].tflops`, 650000)).Unobserved("gpu-02", "GPU 3 (rank 11) on gpu-02 is not a plausible rate"),
		checktest.When("a rate over zero time is invalid", checktest.Set("rank-log@gpu-02", `.gpus[3].seconds`, 0)).Unobserved("gpu-02", "GPU 3 (rank 11) on gpu-02 is not a plausible rate"),
		checktest.When("a rate of products without a size is invalid", checktest.Set("rank-log@gpu-02", `.gpus[3].size`, checktest.LeftOut)).Unobserved("gpu-02", "GPU 3 (rank 11) on gpu-02 is not a plausible rate"),
		checktest.When("a GPU measured for two ranks leaves another unmeasured", checktest.Set("rank-log@gpu-02", `.gpus[3].device`, 2)).Unobserved("gpu-02", "GPU 2 (rank 11) on gpu-02 is not a plausible rate"),
		checktest.When("the first rank may be the one that fails", checktest.Set(KindJob, `.outcome.succeeded`, false),
			checktest.Set("rank-log@gpu-01", `.failures`, []any{map[string]any{"rank": 0, "kind": "oom", "text": "out of memory"}})).Fails("gpu-01 (rank 0)", "oom: out of memory"),
		checktest.When("a failure without a rank is of the pod's node", checktest.Set(KindJob, `.outcome.succeeded`, false),
			checktest.Set("rank-log@gpu-02", `.failures`, []any{map[string]any{"rank": -1, "kind": "oom", "text": "out of memory"}})).Fails("gpu-02", "oom: out of memory"),
		checktest.When("ranks without output or pod are on an unknown node", checktest.Set(KindJob, `.outcome.pods`, nil),
			checktest.Set("rank-log@gpu-04", `.ranks`, nil)).Fails("unknown node", "ranks 24, 25, 26, 27, 28, 29, 30, 31 on unknown node have no output"),
	})
}
