package training

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/checktest"
	"github.com/firstlight/firstlight/internal/plan"
)

func TestAJobThatWasNotObservedIsUnobserved(t *testing.T) {
	t.Parallel()
	g := testGate(t, testSite(frameworkTorchtitan))
	for name, obs := range map[string][]check.Observation{
		"none": nil, "in error": {{Kind: KindJob, Err: "no cluster"}},
	} {
		if j := g.Judge(obs); j.Verdict != check.Unobserved || j.Reason == "" {
			t.Errorf("%s: %q: %s", name, j.Verdict, j.Reason)
		}
	}
}

func TestAJobOfNoStepsIsUnobserved(t *testing.T) {
	t.Parallel()
	g := testGate(t, testSite(frameworkTorchtitan))
	_, obs := observeAndJudge(t, g, fakeTrainer{})
	g.site.Workloads.Training.Steps = 0
	checktest.Rules(t, func(obs []check.Observation) check.Judgement { return plan.Judge(g, obs) }, obs, []checktest.Rule{
		checktest.When("no steps", checktest.Set(KindJob, `.steps`, 0)).Unobserved("job training", "for 0 steps, the site requires 4 with 8 for 0"),
	})
}

// Failures of one kind on one rank have one finding; another kind or rank has its own.
func TestAFailureThatIsPrintedTwiceHasOneFinding(t *testing.T) {
	t.Parallel()
	g := testGate(t, testSite(frameworkTorchtitan))
	_, obs := observeAndJudge(t, g, fakeTrainer{})
	failure := func(rank int, kind string) any {
		return map[string]any{"rank": rank, "kind": kind, "text": "it failed"}
	}
	for _, o := range obs {
		var err error
		switch {
		case o.Kind == KindJob:
			f, decodeErr := check.Decode[JobFigures](o)
			f.Outcome.Succeeded = false
			o, err = o.WithFigures(f)
			err = errors.Join(err, decodeErr)
		case o.Target == "gpu-02":
			var f map[string]any
			err = json.Unmarshal(o.Figures, &f)
			f["failures"] = []any{failure(8, "oom"), failure(8, "oom"), failure(8, "nccl"), failure(9, "oom")}
			o.Figures, _ = json.Marshal(f)
		default:
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		obs[slices.IndexFunc(obs, func(p check.Observation) bool { return p.ID == o.ID })] = o
	}
	n := 0
	for _, f := range plan.Judge(g, obs).Findings {
		if strings.HasSuffix(f.Message, "it failed") {
			n++
		}
	}
	if n != 3 {
		t.Errorf("%d findings, want 3", n)
	}
}

// Without a peak or a limit, MFU shows nothing.
func TestMFUNeedsAPeakAndALimit(t *testing.T) {
	t.Parallel()
	for name, remove := range map[string]func(g *Gate){
		"no limit": func(g *Gate) { g.profile.Training.MinMFU.Value = 0 },
		"no peak":  func(g *Gate) { g.profile.GPU.PeakBF16.Value = 0 },
	} {
		g := testGate(t, testSite(frameworkTorchtitan))
		_, obs := observeAndJudge(t, g, fakeTrainer{})
		g.site.Workloads.Training.MinMFU = 0
		remove(g)
		j := plan.Judge(g, obs)
		if j.Verdict != check.Unobserved || !slices.ContainsFunc(j.Findings, func(f check.Finding) bool { return strings.Contains(f.Message, "no peak or no limit for MFU") }) {
			t.Errorf("%s: %s: %+v", name, j.Verdict, j.Findings)
		}
	}
}

// Each figure of a healthy job, put at the limit, passes, and just beyond it fails.
func TestLimitsHoldAtTheirValue(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		limit   func(g *Gate) *float64
		beyond  float64 // factor
		suspect string
	}{
		"MFU":                     {func(g *Gate) *float64 { return &g.profile.Training.MinMFU.Value }, 1.001, "MFU of job training"},
		"lag of the slowest rank": {func(g *Gate) *float64 { return &g.profile.Training.MaxRankLag.Value }, 0.999, "gpu-02 (rank 11)"},
		"lag of the slowest GPU":  {func(g *Gate) *float64 { return &g.profile.Training.MaxGPULag.Value }, 0.999, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := testGate(t, testSite(frameworkTorchtitan))
			_, obs := observeAndJudge(t, g, fakeTrainer{})
			j := plan.Judge(g, obs)
			i := slices.IndexFunc(j.Figures, func(f check.Figure) bool { return f.Name == name })
			if i < 0 || j.Figures[i].Value <= 0 {
				t.Fatalf("no figure %s above zero: %+v", name, j.Figures)
			}
			*tt.limit(g) = j.Figures[i].Value
			if j := plan.Judge(g, obs); j.Verdict != check.Passed {
				t.Errorf("at the limit: %s: %s", j.Verdict, j.Reason)
			}
			*tt.limit(g) *= tt.beyond
			if j := plan.Judge(g, obs); j.Verdict != check.Failed || tt.suspect != "" && j.Findings[0].Suspect != tt.suspect {
				t.Errorf("beyond the limit: %s: %+v", j.Verdict, j.Findings)
			}
		})
	}
}

// TestLogRules covers what the logs of the pods say of ranks and steps.
func TestLogRules(t *testing.T) {
	t.Parallel()
	g := testGate(t, testSite(frameworkTorchtitan))
	_, obs := observeAndJudge(t, g, fakeTrainer{})
	failed := []checktest.Change{checktest.Set(KindJob, `.outcome.succeeded`, false), checktest.Set(KindJob, `.outcome.problem`, "evicted")}
	unlabelled := func(steps any) []checktest.Change {
		return []checktest.Change{checktest.Set("rank-log@gpu-01", `.ranks[0]`, checktest.Twice), checktest.Set("rank-log@gpu-01", `.ranks[0].rank`, -1), checktest.Set("rank-log@gpu-01", `.ranks[0].steps`, steps)}
	}
	checktest.Rules(t, func(obs []check.Observation) check.Judgement { return plan.Judge(g, obs) }, obs, []checktest.Rule{
		checktest.When("a job that did not succeed names the first pod without an exit code", append(failed, checktest.Set(KindJob, `.outcome.pods[1].exitCode`, checktest.LeftOut))...).Fails("pod firstlight-test/training-1-abcde", "training failed: evicted"),
		checktest.When("a job that did not succeed has failed, though its pods ended well", failed...).Fails("job training", "training failed: evicted"),
		checktest.When("output without a rank that has no steps is that of the launcher", unlabelled([]any{})...).Passes(),
		checktest.When("one step without a rank may be of any rank", unlabelled([]any{map[string]any{"step": 1, "loss": 2.0}})...).Unobserved("gpu-01", "have no rank label"),
		checktest.When("ranks may start within the window", checktest.Set("rank-log", `.ranks[*].started`, "2026-11-21T01:00:00Z"), checktest.Set("rank-log@gpu-02", `.ranks[0].started`, "2026-11-21T01:02:00Z")).Passes(),
		checktest.When("a second beyond the window is too late", checktest.Set("rank-log", `.ranks[*].started`, "2026-11-21T01:00:00Z"), checktest.Set("rank-log@gpu-02", `.ranks[0].started`, "2026-11-21T01:02:01Z")).Fails("gpu-02", "rank 8 on gpu-02 started 121 s after"),
		checktest.When("without the ranks' start times, the pods' count", checktest.Set("rank-log", `.ranks[*].started`, checktest.LeftOut), checktest.Set("rank-log", `.podStarted`, "2026-11-21T01:00:00Z"), checktest.Set("rank-log@gpu-03", `.podStarted`, "2026-11-21T01:03:00Z")).Fails("gpu-03", "pod training-2-abcde on gpu-03 started 180 s after"),
		checktest.When("without any start time the window is unknown", checktest.Set("rank-log@gpu-01", `.ranks[0].started`, checktest.LeftOut), checktest.Set("rank-log@gpu-03", `.podStarted`, "0001-01-01T00:00:00Z")).Unobserved("job training", "start times of the ranks are unknown"),
		checktest.When("a loss that stays as it was does not decrease", checktest.Set("rank-log", `.ranks[*].steps[*].loss`, 5)).Fails("loss of job training", "5.0000 over the first third of the steps and 5.0000 over the last"),
		checktest.When("a step with a time and without a rate has no TFLOPS", checktest.Set("rank-log@gpu-01", `.ranks[0].steps[30].tokensPerSecond`, checktest.LeftOut), checktest.Set("rank-log@gpu-01", `.ranks[0].steps[30].tflops`, checktest.LeftOut),
			checktest.Set("rank-log@gpu-01", `.ranks[0].steps[30].stepMs`, 100), checktest.Set("rank-log@gpu-01", `.ranks[0].parameters`, 8e9)).Unobserved("job training", "not known for every step"),
		checktest.When("a GPU may multiply at its peak", checktest.Set("rank-log", `.gpus[*].tflops`, g.profile.GPU.PeakBF16.Value)).Passes(),
		checktest.When("a GPU of no rank is not of the job", checktest.Set("rank-log@gpu-01", `.gpus[0].rank`, -8)).Unobserved("gpu-01", "GPU 0 (rank -8) on gpu-01 is not a plausible rate"),
		checktest.When("a GPU beyond the last rank is not of the job", checktest.Set("rank-log@gpu-01", `.gpus[0].rank`, 32)).Unobserved("gpu-01", "GPU 0 (rank 32) on gpu-01 is not a plausible rate"),
	})
}
