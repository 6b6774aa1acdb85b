package training

import (
	"math"
	"slices"
	"testing"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/checktest"
	"github.com/firstlight/firstlight/internal/plan"
)

// Each limit of steps' times, of MFU and of lag holds at its value, and not above: the times
// give a known figure, and the profile's limit is set next to it.
func TestLimitsOfSpeed(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		times   [60]float64 // ms of a step, alike on all ranks
		figure  string
		value   float64
		limit   func(g *Gate) *float64
		suspect string
	}{
		// 58 steps of 100 and 140 by turns after the warm-up of 2: mean 120, deviation 20
		"variation":  {byTurns(100, 140), "step time CV", 20.0 / 120, func(g *Gate) *float64 { return &g.profile.Training.MaxCV.Value }, "step time of job training"},
		"p95":        {byTurns(100, 140), "step time p95/p50", 140.0 / 120, func(g *Gate) *float64 { return &g.profile.Training.MaxP95P50.Value }, "step time of job training"},
		"drift up":   {fromTo(100, 110), "step time drift", 0.1, func(g *Gate) *float64 { return &g.profile.Training.MaxDrift.Value }, "step time of job training"},
		"drift down": {fromTo(110, 99), "step time drift", 0.1, func(g *Gate) *float64 { return &g.profile.Training.MaxDrift.Value }, "step time of job training"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := testGate(t, testSite(frameworkMegatron))
			g.profile.Training.WarmupSteps.Value = 2
			g.profile.Training.MaxCV.Value, g.profile.Training.MaxP95P50.Value, g.profile.Training.MaxDrift.Value = 1, 10, 1
			_, obs := observeAndJudge(t, g, fakeTrainer{})
			obs = withTimes(t, obs, tt.times)
			j := plan.Judge(g, obs)
			i := slices.IndexFunc(j.Figures, func(f check.Figure) bool { return f.Name == tt.figure })
			if j.Verdict != check.Passed || i < 0 || math.Abs(j.Figures[i].Value-tt.value) > 1e-9 {
				t.Fatalf("%s: %s, figures %+v, want %s %g", j.Verdict, j.Reason, j.Figures, tt.figure, tt.value)
			}
			value := j.Figures[i].Value
			*tt.limit(g) = value
			if j := plan.Judge(g, obs); j.Verdict != check.Passed {
				t.Errorf("at the limit: %s: %s", j.Verdict, j.Reason)
			}
			*tt.limit(g) = value * 0.999
			if j := plan.Judge(g, obs); j.Verdict != check.Failed || j.Findings[0].Suspect != tt.suspect {
				t.Errorf("above the limit: %s: %s", j.Verdict, j.Reason)
			}
		})
	}
}

func byTurns(a, b float64) (times [60]float64) {
	for i := range times {
		times[i] = []float64{a, b}[i%2]
	}
	return times
}

func fromTo(a, b float64) (times [60]float64) {
	for i := range times {
		times[i] = a
		if i >= 32 {
			times[i] = b
		}
	}
	return times
}

// withTimes gives each step of each rank its time.
func withTimes(t *testing.T, obs []check.Observation, times [60]float64) []check.Observation {
	t.Helper()
	out := slices.Clone(obs)
	for i, o := range out {
		if o.Kind != KindRanks {
			continue
		}
		f, err := check.Decode[RankFigures](o)
		if err != nil {
			t.Fatal(err)
		}
		for r := range f.Ranks {
			for s := range f.Ranks[r].Steps {
				f.Ranks[r].Steps[s].Ms = &times[s]
			}
		}
		if out[i], err = o.WithFigures(f); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// Megatron prints these lines, torchtitan does not.
func TestRulesOfMegatron(t *testing.T) {
	t.Parallel()
	g := testGate(t, testSite(frameworkMegatron))
	_, obs := observeAndJudge(t, g, fakeTrainer{})
	checktest.Rules(t, func(obs []check.Observation) check.Judgement { return plan.Judge(g, obs) }, obs, []checktest.Rule{
		checktest.When("one iteration that is nan is one too many", checktest.Set("rank-log@gpu-04", ".ranks[last].steps[last].nan", 1)).Fails("job training", "0 iterations were skipped and 1 were nan"),
		checktest.When("one iteration that is skipped is one too many", checktest.Set("rank-log@gpu-01", ".ranks[0].steps[7].skipped", 1)).Fails("job training", "1 iterations were skipped and 0 were nan"),
		checktest.When("skipped and nan do not cancel out", checktest.Set("rank-log@gpu-01", ".ranks[0].steps[7].skipped", 1), checktest.Set("rank-log@gpu-01", ".ranks[0].steps[7].nan", 1)).Fails("job training", "1 iterations were skipped and 1 were nan"),
		checktest.When("a job of an unknown framework needs all ranks", checktest.Set(KindJob, ".framework", ""), checktest.Set("rank-log@gpu-01", ".ranks[0].steps", []int{})).Fails("gpu-01 (rank 0)", "ended at step 0"),
	})
}

func TestSpread(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		values          []float64
		mean, deviation float64
	}{
		"one value": {[]float64{5}, 5, 0},
		"two":       {[]float64{2, 4}, 3, 1},
		"eight":     {[]float64{2, 4, 4, 4, 5, 5, 7, 9}, 5, 2},
	} {
		if mean, deviation := spread(tt.values); mean != tt.mean || deviation != tt.deviation {
			t.Errorf("%s: mean %g, deviation %g", name, mean, deviation)
		}
	}
}
