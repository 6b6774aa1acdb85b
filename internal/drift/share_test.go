package drift

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/checktest"
	"github.com/firstlight/firstlight/internal/gate/inference"
)

// shareOf draws the share of requests that meet the objectives.
func shareOf(rng *rand.Rand, n int, p float64) Figure {
	good := 0
	for range n {
		if rng.Float64() < p {
			good++
		}
	}
	return Figure{Requests: n, Values: []float64{float64(good) / float64(n)}}
}

// Binomial noise raises nothing in 200 runs; a loss of a point of 20,000 requests is found in each.
func TestNoiseOfAShareIsNoDrift(t *testing.T) {
	t.Parallel()
	b := testBands(t)
	compare := func(seed uint64, n int, was, is float64) string {
		rng := rand.New(rand.NewPCG(seed, 5))
		return compareShare(shareOf(rng, n, was), shareOf(rng, n, is), b.Goodput, b.Deviations).band
	}
	lost := map[int]int{}
	for seed := range uint64(200) {
		for _, n := range []int{200, 2000, 20000} {
			for _, p := range []float64{0.98, 0.995, 1} {
				if band := compare(seed, n, p, p); band != bandExpected {
					t.Errorf("seed %d: %s for %g of %d requests", seed, band, p, n)
				}
			}
			if compare(seed, n, 0.995, 0.98) != bandExpected {
				lost[n]++
			}
		}
	}
	t.Logf("a loss of 1.5 points, found of 200, by requests: %v", lost)
	if lost[20000] != 200 {
		t.Errorf("a loss of 1.5 points, found of 200, by requests: %v", lost)
	}
}

// TestFisher: the tea of a lady: 3 of 4 and 4 of 4 cups.
func TestFisher(t *testing.T) {
	t.Parallel()
	for missedNow, want := range []float64{1, 69.0 / 70, 53.0 / 70, 17.0 / 70, 1.0 / 70} {
		if got := fisher(4-missedNow, 4, missedNow, 4); math.Abs(got-want) > 1e-12 {
			t.Errorf("%d of 4: %g, want %g", missedNow, got, want)
		}
	}
}

// TestGoodputRules: the share of the requests within the objectives, with the noise of its requests.
func TestGoodputRules(t *testing.T) {
	t.Parallel()
	c := compared{Check: passes{inference.Name}, objectives: inference.Objectives{TTFT: 500, TPOT: 50}, bands: testBands(t), baseline: Baseline{Run: "r"}}
	// missed requests have a TTFT above the objective, which no median shows
	run := func(requests, missed int, ttft float64) []check.Observation {
		var f inference.LoadFigures
		for i := range requests {
			q := inference.Request{TTFT: new(100.0), TPOT: new(10.0)}
			if i < missed {
				q.TTFT = new(ttft)
			}
			f.Requests = append(f.Requests, q)
		}
		o, err := check.Observation{ID: "1", Kind: inference.KindLoad}.WithFigures(f)
		if err != nil {
			t.Fatal(err)
		}
		return []check.Observation{o}
	}
	stall := func(obs []check.Observation, ms float64) []check.Observation { return stalledFor(ms, obs) }
	const name = "goodput (TTFT 500 ms, TPOT 50 ms)"
	c.baseline.Figures = measure(inference.Name, run(1000, 0, 0), basis{objectives: c.objectives})
	for text, tt := range map[string]struct {
		obs     []check.Observation
		verdict check.Verdict
		suspect string
		says    string
	}{
		"as before":               {run(1000, 0, 0), check.Passed, "", ""},
		"the most that is noise":  {run(1000, 17, 700), check.Passed, "", ""}, // 2^-17 is more than 5.4e-6
		"more than noise":         {run(1000, 18, 700), check.Failed, "cluster", "replace: " + name + " is 98.20 %, 1.80 points below the 100.00 % of run r; tolerated are 1.70 points"},
		"at the objective":        {run(1000, 100, 500), check.Passed, "", ""},
		"few requests":            {run(100, 4, 700), check.Passed, "", ""},
		"the stall is the excess": {stall(run(1000, 100, 700), 200), check.Unobserved, "firstlight's own machine", name + " is 90.00 %, 10.00 points below run r, but firstlight was not scheduled for up to 200.0 ms"},
		"the stall is shorter":    {stall(run(1000, 100, 700), 199), check.Failed, "cluster", "replace: " + name},
	} {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			checktest.Judged(t, c.Judge(tt.obs), tt.verdict, tt.suspect, tt.says)
		})
	}
	j := c.Judge(run(1000, 10, 700))
	f := j.Figures[len(j.Figures)-1]
	if f.Name != name || f.Value != 0.99 || math.Abs(f.Limit-0.983) > 1e-9 || f.Relation != ">=" || !strings.Contains(f.Source, "the tolerance 1.70 points of 1000 requests") {
		t.Errorf("%+v", f)
	}
	// the share of other objectives is another figure
	other := c
	other.objectives.TTFT = 400
	if j := other.Judge(run(1000, 0, 0)); j.Verdict != check.Unobserved || !strings.Contains(fmt.Sprint(j.Findings), name+" is in the baseline of run r and was not observed again") {
		t.Errorf("%s %+v", j.Verdict, j.Findings)
	}
	// a baseline of an earlier version
	other = c
	other.baseline.Figures = other.baseline.Figures[:2]
	if j := other.Judge(run(1000, 100, 700)); j.Verdict != check.Passed || !strings.Contains(fmt.Sprint(j.Findings), "not in the baseline of run r, and so not compared: "+name) {
		t.Errorf("%s %+v", j.Verdict, j.Findings)
	}
	// warn, and not yet replace
	many := c
	many.baseline.Figures = measure(inference.Name, run(20000, 0, 0), basis{objectives: c.objectives})
	checktest.Judged(t, many.Judge(run(20000, 99, 700)), check.Passed, "", "")
	checktest.Judged(t, many.Judge(run(20000, 101, 700)), check.Failed, "cluster", "warn: "+name)
	checktest.Judged(t, many.Judge(run(20000, 200, 700)), check.Failed, "cluster", "replace: "+name)
}
