package drift

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/checktest"
	"github.com/firstlight/firstlight/internal/gate/training"
	"github.com/firstlight/firstlight/internal/probe/trainer"
	"github.com/firstlight/firstlight/internal/profile"
)

// stepsOf draws n steps of 400 ms with relative noise; factor is that of a step, from 0.
func stepsOf(seed uint64, n int, noise float64, factor func(step int) float64) []timed {
	rng := rand.New(rand.NewPCG(seed, 23))
	var out []timed
	for i := range n {
		out = append(out, timed{step: i + 11, ms: 400 * (1 + noise*rng.NormFloat64()) * factor(i)})
	}
	return out
}

func steady(int) float64 { return 1 }

// slowerFrom is a rise that begins at a step.
func slowerFrom(from int, rise float64) func(int) float64 {
	return func(step int) float64 {
		if step >= from {
			return 1 + rise
		}
		return 1
	}
}

// Runs of 50, 100 and 500 steps with 2 % noise, an outlier, or checkpoints each few steps have no lasting rise.
func TestNoiseIsNoLastingRise(t *testing.T) {
	t.Parallel()
	b := testBands(t).Slowdown
	for name, factor := range map[string]func(int) float64{
		"noise":                         steady,
		"one step takes five times":     func(step int) float64 { return map[bool]float64{true: 5, false: 1}[step == 40] },
		"each 10th step takes twice":    func(step int) float64 { return map[bool]float64{true: 2, false: 1}[step%10 == 9] },
		"each 25th step takes 20 times": func(step int) float64 { return map[bool]float64{true: 20, false: 1}[step%25 == 24] },
		"a slow part of 15 steps":       func(step int) float64 { return map[bool]float64{true: 1.06, false: 1}[step >= 20 && step < 35] },
		"faster from step 30 on":        slowerFrom(30, -0.1),
		"a rise of 1 %":                 slowerFrom(25, 0.01),
	} {
		for seed := range uint64(200) {
			for _, n := range []int{50, 100, 500} {
				r, ok := lastingRise(stepsOf(seed, n, 0.02, factor), b.LeastSteps)
				if band := b.of(r); !ok || band != bandExpected {
					t.Errorf("%s, seed %d, %d steps: %s %+v", name, seed, n, band, r)
				}
			}
		}
	}
}

// A rise is found by its step. The least rates are those of docs/drift.md.
func TestALastingRiseIsFound(t *testing.T) {
	t.Parallel()
	b := testBands(t).Slowdown
	for _, tt := range []struct {
		steps, from int
		rise        float64
		least       int
	}{
		{100, 33, 0.05, 200}, {100, 50, 0.05, 200}, {100, 66, 0.05, 200}, {100, 60, 0.06, 200}, {100, 85, 0.06, 190},
		{50, 17, 0.05, 190}, {50, 25, 0.05, 190}, {50, 33, 0.05, 190}, {50, 25, 0.06, 195},
	} {
		found, off := 0, 0
		for seed := range uint64(200) {
			r, _ := lastingRise(stepsOf(seed, tt.steps, 0.02, slowerFrom(tt.from, tt.rise)), b.LeastSteps)
			if b.of(r) == bandExpected {
				continue
			}
			found++
			off = max(off, int(math.Abs(float64(r.from-(tt.from+11)))))
			if r.first != 11 || r.until != r.from-1 || r.last != tt.steps+10 {
				t.Errorf("%+v", r)
			}
		}
		t.Logf("%.0f %% from step %d of %d on: found in %d of 200, by at most %d steps off", 100*tt.rise, tt.from, tt.steps, found, off)
		if found < tt.least || off > 10 {
			t.Errorf("%.0f %% from step %d of %d on: found in %d of 200, want %d, and at most %d steps off", 100*tt.rise, tt.from, tt.steps, found, tt.least, off)
		}
	}
}

// The deviations alone are exceeded by noise no more often than their source states. A lower limit is.
func TestTheDeviationsOfARise(t *testing.T) {
	t.Parallel()
	b := testBands(t).Slowdown
	const runs = 20000
	for _, n := range []int{20, 50, 100, 200} {
		above, control := 0, 0
		for seed := range uint64(runs) {
			r, _ := lastingRise(stepsOf(seed, n, 0.02, steady), b.LeastSteps)
			if r.deviations >= b.Deviations {
				above++
			}
			if r.deviations >= 2.5 {
				control++
			}
		}
		t.Logf("%d steps: %d of %d above %g, %d above 2.5", n, above, runs, b.Deviations, control)
		if above > 10 || control < 100 {
			t.Errorf("%d steps: %d of %d above %g, %d above 2.5", n, above, runs, b.Deviations, control)
		}
	}
}

// Ranks and rank sums of a known case: 1 2 4 | 3 5 6 of 6 steps has the later ranks 14 of an expected 10.5.
func TestTheRankSum(t *testing.T) {
	t.Parallel()
	if got := ranksOf([]float64{5, 1, 5, 9}); !slices.Equal(got, []float64{2.5, 1, 2.5, 4}) {
		t.Errorf("ranks %v", got)
	}
	var steps []timed
	for i, ms := range []float64{1, 2, 4, 3, 5, 6} {
		steps = append(steps, timed{i + 1, ms})
	}
	r, ok := lastingRise(steps, 3)
	if want := 3.5 / math.Sqrt(3*3*7.0/12); !ok || math.Abs(r.deviations-want) > 1e-12 || r.from != 4 || r.until != 3 || r.before != 2 || r.after != 5 || r.share != 1.5 {
		t.Errorf("%t %+v, want %g", ok, r, want)
	}
	if r, ok := lastingRise(steps[:5], 3); ok {
		t.Errorf("5 steps have two parts of 3: %+v", r)
	}
	if r, ok := lastingRise(nil, 3); ok {
		t.Errorf("no steps: %+v", r)
	}
}

// trained are the logs of two ranks with these steps.
func trained(t *testing.T, steps []timed) []check.Observation {
	t.Helper()
	var f training.RankFigures
	for rank := range 2 {
		r := training.Rank{Rank: rank}
		for _, s := range steps {
			r.Steps = append(r.Steps, training.Step{Step: s.step, Ms: new(s.ms - float64(rank)), TFLOPS: new(400 * 400 / s.ms)})
		}
		f.Ranks = append(f.Ranks, r)
		f.GPUs = append(f.GPUs, trainer.MatmulGPU{Rank: rank, Size: 8192, TFLOPS: 700 - 10*float64(rank)})
	}
	seen := &checktest.Observed{T: t}
	seen.Add(training.KindRanks, "job", true, f)
	return seen.List
}

// TestSlowdownRules: a rise in the run is found with its step, though the median of all steps is as expected.
func TestSlowdownRules(t *testing.T) {
	t.Parallel()
	p, err := profile.Load("h100-sxm-ndr400")
	if err != nil {
		t.Fatal(err)
	}
	healthy := trained(t, stepsOf(1, 100, 0.005, steady))
	c := compared{Check: passes{training.Name}, profile: p, bands: testBands(t), baseline: Baseline{Run: "r"}}
	c.baseline.Figures = measure(training.Name, healthy, basis{profile: p})
	checktest.Judged(t, c.Judge(healthy), check.Passed, "", "")

	slow := trained(t, stepsOf(2, 100, 0.005, slowerFrom(60, 0.06)))
	j := c.Judge(slow)
	checktest.Judged(t, j, check.Failed, "cluster", "warn: the step time is 6.")
	if len(j.Findings) != 1 || !strings.Contains(j.Findings[0].Message, "longer from step 71 to the last step 110: 42") || !strings.Contains(j.Findings[0].Message, " ms, in steps 11 to 70 ") {
		t.Errorf("%+v", j.Findings)
	}
	i := slices.IndexFunc(j.Figures, func(f check.Figure) bool { return f.Name == "lasting rise of the step time within the run" })
	if i < 0 || math.Abs(j.Figures[i].Value-0.06) > 0.005 || j.Figures[i].Limit != c.bands.Slowdown.Warn || j.Figures[i].Relation != "<=" {
		t.Errorf("%+v", j.Figures)
	}
	checktest.Judged(t, c.Judge(trained(t, stepsOf(2, 100, 0.005, slowerFrom(70, 0.09)))), check.Failed, "cluster", "replace: the step time is 9.")
	// the order decides, not the values
	shuffled := stepsOf(2, 100, 0.005, slowerFrom(60, 0.06))
	rand.New(rand.NewPCG(1, 1)).Shuffle(len(shuffled), func(i, j int) { shuffled[i].ms, shuffled[j].ms = shuffled[j].ms, shuffled[i].ms })
	if j := c.Judge(trained(t, shuffled)); j.Verdict != check.Passed {
		t.Errorf("in another order: %s %+v", j.Verdict, j.Findings)
	}
	// of a gate that fails, the finding is added to the gate's
	c.Check = fails{passes{training.Name}}
	if j := c.Judge(slow); j.Verdict != check.Failed || j.Reason != "own" || len(j.Findings) != 2 || j.Findings[0].Suspect != "own" || !strings.Contains(j.Findings[1].Message, "longer from step 71 ") {
		t.Errorf("%+v", j)
	}
	if j := c.Judge(healthy); len(j.Findings) != 1 {
		t.Errorf("%+v", j.Findings)
	}
	// a few steps
	c.Check = passes{training.Name}
	j = c.Judge(trained(t, stepsOf(2, 15, 0.005, steady)))
	if j.Verdict != check.Passed || len(j.Findings) != 1 || !strings.Contains(fmt.Sprint(j.Findings), "15 steps after the warm-up are too few to find a slowdown within the run: it needs 16") {
		t.Errorf("%s %+v", j.Verdict, j.Findings)
	}
	// the rates of the GPUs alone
	const product = "matrix product of a GPU alone (8192 rows)"
	slower := c
	slower.baseline.Figures = slices.Clone(c.baseline.Figures)
	at := slices.IndexFunc(slower.baseline.Figures, func(f Figure) bool { return f.Name == product })
	if at < 0 || !slices.Equal(slower.baseline.Figures[at].Values, []float64{690, 700}) {
		t.Fatalf("%+v", slower.baseline.Figures)
	}
	slower.baseline.Figures[at].Values = []float64{790, 800}
	checktest.Judged(t, slower.Judge(healthy), check.Failed, "cluster", "replace: "+product+" is 695 TFLOPS, 12.6 % worse")
}

// Bands that lack a figure are refused.
func TestIncompleteBands(t *testing.T) {
	t.Parallel()
	if _, err := parseBands(bandsFile); err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{
		"  fromBytes: 8000000\n", "  replace: 0.2\n", "  warn: 0.005\n", "  leastSteps: 8\n", "  deviations: 4.5\n", "  warn: 0.025\n", "    noise: 0.05\n", "deviations: 4.4\n",
	} {
		text := strings.Replace("\n"+string(bandsFile), "\n"+line, "\n", 1)
		if _, err := parseBands([]byte(text)); err == nil || !strings.Contains(err.Error(), "incomplete bands of ") || len(text) > len(bandsFile) {
			t.Errorf("without %q: %v", line, err)
		}
	}
}
