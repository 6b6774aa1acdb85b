package training

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/checktest"
	"github.com/firstlight/firstlight/internal/plan"
	"github.com/firstlight/firstlight/internal/probe/trainer"
	"github.com/firstlight/firstlight/internal/workload"
)

// slowFrom is a part of a run in which ranks are the slowest by turns, behind the fastest by a fraction.
type slowFrom struct {
	first, last int
	lag         float64
	ranks       []int
}

// reportsWith are the reports of 60 steps. Without a part that says otherwise, the slowest rank changes from report to report
// and from node to node, 0.5 % behind the fastest.
func reportsWith(parts ...slowFrom) []any {
	var out []any
	for step := 1; step <= 60; step++ {
		rank, lag := 9*step%32, 0.005
		for _, p := range parts {
			if step >= p.first && step <= p.last {
				rank, lag = p.ranks[step%len(p.ranks)], p.lag
			}
		}
		out = append(out, map[string]any{"minRank": rank, "minTFLOPS": 400 / (1 + lag), "maxRank": 12, "maxTFLOPS": 400})
	}
	return out
}

// TestStragglerReports: where only the last rank prints steps, a rank is slow by Megatron's reports, which compare the slowest
// rank with the fastest. The thirds of the 50 steps after the warm-up are 11 to 26, 27 to 44 and 45 to 60.
func TestStragglerReports(t *testing.T) {
	t.Parallel()
	g := testGate(t, testSite(frameworkMegatron))
	_, obs := observeAndJudge(t, g, fakeTrainer{lastOnly: true})
	limit := g.profile.Training.MaxGPULag.Value
	alone := func(first, last int) slowFrom { return slowFrom{first, last, 0.2, []int{9}} }
	byTurns := func(lag float64, ranks ...int) slowFrom { return slowFrom{1, 60, lag, ranks} }
	with := func(parts ...slowFrom) checktest.Change {
		return checktest.Set("rank-log@gpu-01", `.stragglers`, reportsWith(parts...))
	}
	stages := func(n any) checktest.Change { return checktest.Set("rank-log@gpu-01", `.pipelineStages`, n) }
	field := func(name string, to any) checktest.Change {
		return checktest.Set("rank-log@gpu-01", `.stragglers[30].`+name, to)
	}
	everyRank := make([]int, 0, 32)
	for i := range 32 {
		everyRank = append(everyRank, 9*i%32)
	}
	checktest.Rules(t, func(obs []check.Observation) check.Judgement { return plan.Judge(g, obs) }, obs, []checktest.Rule{
		checktest.When("the last rank prints the steps", checktest.Set("rank-log", `.ranks[*].steps`, []any{})).Fails("gpu-04 (rank 31)", "ended at step 0 of 60"),

		checktest.When("no report", checktest.Set("rank-log@gpu-01", `.stragglers`, []any{})).Unobserved("job training", "1 of 32 ranks print step times"),
		checktest.When("a report less than steps", checktest.Set("rank-log@gpu-01", `.stragglers`, reportsWith()[1:])).Unobserved("job training", "59 straggler reports of 60 steps"),
		checktest.When("a report more than steps", checktest.Set("rank-log@gpu-01", `.stragglers[0]`, checktest.Twice)).Unobserved("job training", "61 straggler reports of 60 steps"),
		checktest.When("two reports after the warm-up", checktest.Set(KindJob, `.steps`, 12), checktest.Set("rank-log@gpu-01", `.stragglers`, reportsWith()[:12])).Unobserved("job training", "12 straggler reports of 12 steps, of which 10 are warm-up"),
		checktest.When("a report without a rate", field("minTFLOPS", 0)).Unobserved("job training", "straggler report of step 31 names rank"),
		checktest.When("a slowest rank that is the faster one", field("minTFLOPS", 500)).Unobserved("job training", "straggler report of step 31 names rank"),
		checktest.When("a slowest rank beyond the last", field("minRank", 32)).Unobserved("job training", "names rank 32"),
		checktest.When("a fastest rank beyond the last", field("maxRank", 32)).Unobserved("job training", "and rank 32 with"),
		checktest.When("a rank before the first", field("minRank", -1)).Unobserved("job training", "names rank -1"),

		checktest.When("a slowest rank that changes", with()).Passes(),
		checktest.When("a slowest rank that changes, far behind", with(byTurns(0.2, everyRank...))).Passes(),
		checktest.When("the same rank within the limit", with(byTurns(limit*0.99, 3))).Passes(),
		checktest.When("the same rank beyond the limit", with(byTurns(limit*1.01, 3))).Fails("gpu-01 (rank 3)", "rank 3 on gpu-01 is the slowest in 16 of 16 straggler reports, at the median 8.1 % behind the fastest rank, from step 11 to 26; the maximum is 8.0 %"),
		checktest.When("one slow step a third", with(alone(20, 20), alone(30, 30), alone(50, 50))).Passes(),

		checktest.When("slow in the warm-up and a little after it", with(alone(1, 14))).Passes(),
		checktest.When("slow in half of the first third", with(alone(11, 18))).Passes(),
		checktest.When("slow in most of the first third", with(alone(11, 19))).Fails("gpu-02 (rank 9)", "in 9 of 16 straggler reports, at the median 20.0 %"),
		checktest.When("slow in most of the middle third", with(alone(27, 36))).Fails("gpu-02 (rank 9)", "in 10 of 18 straggler reports"),
		checktest.When("slow in half of the last third", with(alone(53, 60))).Passes(),
		checktest.When("slow in most of the last third", with(alone(52, 60))).Fails("gpu-02 (rank 9)", "from step 45 to 60"),
		checktest.When("slow in the last half", with(alone(31, 60))).Fails("gpu-02 (rank 9)", "in 14 of 18 straggler reports"),
		checktest.When("slower in the last third", with(byTurns(0.02, 9), alone(45, 60))).Fails("gpu-02 (rank 9)", "from step 45 to 60"),
		checktest.When("slow within the limit, with slow steps", with(byTurns(0.02, 9), alone(11, 17))).Passes(),

		checktest.When("the ranks of a node by turns", with(byTurns(0.2, 8, 9, 10, 11, 12, 13, 14, 15))).Fails("gpu-02", "ranks of gpu-02 are the slowest in 16 of 16 straggler reports, at the median 20.0 %"),
		checktest.When("the ranks of a node by turns, within the limit", with(byTurns(limit*0.99, 8, 9, 10, 11, 12, 13, 14, 15))).Passes(),
		checktest.When("ranks of two nodes by turns", with(byTurns(0.2, 3, 17))).Fails("gpu-03", "ranks of gpu-03 are the slowest in 8 of 16 straggler reports"),
		checktest.When("ranks of three of four nodes by turns", with(byTurns(0.2, 3, 9, 17))).Passes(),

		checktest.When("a slow rank in a pipeline", with(alone(1, 60)), stages(2)).Unobserved("job training", "20.0 % behind the fastest, the maximum is 8.0 %, and the model has 2 pipeline stages"),
		checktest.When("slow stages in a pipeline hide a slow rank", with(byTurns(0.2, everyRank...)), stages(2)).Unobserved("job training", "and the model has 2 pipeline stages"),
		checktest.When("a slow rank in a pipeline, in half of its reports", with(alone(11, 15), slowFrom{16, 19, 0.02, []int{9}}), stages(2)).Unobserved("job training", "20.0 % behind the fastest, the maximum is 8.0 %, and the model has 2 pipeline stages"),
		checktest.When("a pipeline within the limit", with(byTurns(limit*0.99, 9)), stages(2)).Passes(),
		checktest.When("a slow rank in a pipeline of unknown length", with(alone(1, 60)), stages(checktest.LeftOut)).Unobserved("job training", "the log does not show the number of pipeline stages"),
	})
}

// Of two nodes that are slow by turns each is a suspect; a node that is named once among many reports is not, nor is a node
// within the limit. The figure is that of the slowest one.
func TestSuspectsOfStragglerReports(t *testing.T) {
	t.Parallel()
	g := testGate(t, testSite(frameworkMegatron))
	_, obs := observeAndJudge(t, g, fakeTrainer{lastOnly: true})
	twoNodes := reportsWith(slowFrom{1, 60, 0.2, []int{3, 17}})
	uneven := reportsWith(slowFrom{1, 60, 0.2, []int{3, 17}})
	for i := 1; i < len(uneven); i += 2 { // the even steps, of rank 3
		uneven[i] = map[string]any{"minRank": 3, "minTFLOPS": 400 / 1.05, "maxRank": 12, "maxTFLOPS": 400}
	}
	// The last third has the largest lag.
	once := reportsWith(slowFrom{1, 60, 0.1, []int{8, 9, 10, 11}}, slowFrom{45, 60, 0.2, []int{8, 9, 10, 11}}, slowFrom{50, 50, 0.3, []int{30}})
	for name, tt := range map[string]struct {
		reports []any
		want    string
	}{
		"two nodes":                       {twoNodes, "gpu-01 gpu-03"},
		"two nodes, one within the limit": {uneven, "gpu-03"},
		"a node, and once another one":    {once, "gpu-02"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			j := plan.Judge(g, checktest.With(t, obs, checktest.Set("rank-log@gpu-01", `.stragglers`, tt.reports)))
			var suspects []string
			for _, f := range j.Findings {
				suspects = append(suspects, f.Suspect)
			}
			if got := strings.Join(suspects, " "); j.Verdict != check.Failed || got != tt.want {
				t.Errorf("%s: %q, want %q: %+v", j.Verdict, got, tt.want, j.Findings)
			}
			for _, f := range j.Figures {
				if f.Name == "lag of the slowest rank" && math.Abs(f.Value-0.2) > 1e-9 {
					t.Errorf("%+v, want 0.2", f)
				}
			}
		})
	}
}

// In a job of many nodes, a few reports name few nodes by chance.
func TestStragglerReportsOfManyNodes(t *testing.T) {
	t.Parallel()
	s := testSite(frameworkMegatron)
	s.Workloads.Training.Nodes = 100
	r := &review{gate: testGate(t, s), job: JobFigures{GPUsPerNode: 8}}
	for i := range 100 {
		r.job.Outcome.Pods = append(r.job.Outcome.Pods, workload.Outcome{Index: i, Node: fmt.Sprintf("gpu-%02d", i)})
	}
	for nodes, want := range map[int]int{1: 1, 2: 2, 8: 8, 9: 0, 16: 0} {
		reports := make([]trainer.MegatronStraggler, 16)
		for i := range reports {
			reports[i] = trainer.MegatronStraggler{MinTFLOPS: 300, MaxTFLOPS: 400, MinRank: 8*(i%nodes) + i/nodes%8}
		}
		if got := r.persistent(stragglerReports{11, reports}); len(got) != want {
			t.Errorf("%d nodes by turns in 16 reports: %d are slow, want %d: %+v", nodes, len(got), want, got)
		}
	}
}

// The reason of a pass tells whether one rank is the slowest throughout, and the figure then has a limit.
func TestReasonOfStragglerReports(t *testing.T) {
	t.Parallel()
	g := testGate(t, testSite(frameworkMegatron))
	_, obs := observeAndJudge(t, g, fakeTrainer{lastOnly: true})
	for name, tt := range map[string]struct {
		parts    []slowFrom
		says     string
		relation string
	}{
		"one rank":       {[]slowFrom{{1, 60, 0.04, []int{9}}}, "; rank 9 on gpu-02 is the slowest in 16 of 16 straggler reports, at the median 4.0 % behind the fastest rank", "<="},
		"one node":       {[]slowFrom{{1, 60, 0.04, []int{9, 10}}}, "; ranks of gpu-02 are the slowest in 16 of 16 straggler reports", "<="},
		"changing ranks": {nil, "; the slowest rank changes from report to report, at the median 0.5 % behind the fastest", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			j := plan.Judge(g, checktest.With(t, obs, checktest.Set("rank-log@gpu-01", `.stragglers`, reportsWith(tt.parts...))))
			if j.Verdict != check.Passed || !strings.Contains(j.Reason, tt.says) {
				t.Errorf("%s: %q, want %q", j.Verdict, j.Reason, tt.says)
			}
			for _, f := range j.Figures {
				if f.Name == "lag of the slowest rank" && f.Relation != tt.relation {
					t.Errorf("%+v, want relation %q", f, tt.relation)
				}
			}
		})
	}
}
