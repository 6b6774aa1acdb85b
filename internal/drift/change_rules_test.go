package drift

import (
	"slices"
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/checktest"
	"github.com/firstlight/firstlight/internal/gate/inference"
	"github.com/firstlight/firstlight/internal/gate/training"
	"github.com/firstlight/firstlight/internal/profile"
)

// A loss of replace or more is unclear as long as noise alone may explain it, both bounds included:
// neither a node to replace nor as expected.
func TestALossThatNoiseMayExplainIsUnclear(t *testing.T) {
	t.Parallel()
	values := func(v float64) Figure { return Figure{Values: []float64{v, v}} }
	for name, tt := range map[string]struct {
		replace, noise, is float64
		want               string
	}{
		"exactly replace, less than noise":      {0.5, 2, 1.5, bandUnclear},
		"exactly noise, more than replace":      {0.25, 0.5, 1.5, bandUnclear},
		"exactly replace and noise":             {0.5, 0.5, 1.5, bandUnclear},
		"more than noise":                       {0.25, 0.5, 1.75, bandReplace},
		"exactly replace, more than noise":      {0.5, 0.25, 1.5, bandReplace},
		"less than replace, less than noise":    {0.5, 2, 1.25, bandExpected},
		"less than replace, more than expected": {0.5, 0.25, 1.375, bandWarn},
	} {
		// of two equal values each, the noise of a loss is that of a median
		c := compareFigure(values(1), values(tt.is), band{Warn: 0.125, Replace: tt.replace, Noise: 1}, tt.noise/medianError)
		if c.noise != tt.noise || c.band != tt.want {
			t.Errorf("%s: %+v, want %s", name, c, tt.want)
		}
	}
}

// A stall of less than a millisecond explains what is no longer than it; without a simulated server
// the client's own stall is all.
func TestAShortStallExplainsAShortLoss(t *testing.T) {
	t.Parallel()
	base := Baseline{Run: "r", Figures: []Figure{{Gate: inference.Name, Name: "TTFT", Unit: "ms", Values: slices.Repeat([]float64{1}, 64)}}}
	c := compared{Check: passes{inference.Name}, baseline: base, bands: testBands(t)}
	for stall, want := range map[float64]check.Verdict{0: check.Failed, 0.25: check.Failed, 0.5: check.Unobserved} {
		f, err := check.Decode[inference.LoadFigures](loadOf(t, slices.Repeat([]float64{1.4}, 64)...)[0])
		if err != nil {
			t.Fatal(err)
		}
		f.ClientStall = stall
		o, err := check.Observation{ID: "1", Kind: inference.KindLoad}.WithFigures(f)
		if err != nil {
			t.Fatal(err)
		}
		if j := c.Judge([]check.Observation{o}); j.Verdict != want {
			t.Errorf("a stall of %g ms: %s, want %s", stall, j.Verdict, want)
		}
	}
}

// The limit of a figure names its tolerance as a percentage.
func TestTheSourceOfALimit(t *testing.T) {
	t.Parallel()
	f := figureOf(Figure{Name: "busbw", Unit: "GB/s", HigherIsBetter: true}, change{was: 400, is: 390, tolerance: 0.1}, "r")
	if !strings.Contains(f.Source, "median 400 GB/s of run r and the tolerance 10.0 %") {
		t.Error(f.Source)
	}
}

// The speed of a step is the median of its GPUs, in whichever order they report.
func TestTheSpeedOfAStepIsItsMedian(t *testing.T) {
	t.Parallel()
	p, err := profile.Load("h100-sxm-ndr400")
	if err != nil {
		t.Fatal(err)
	}
	var ranks training.RankFigures
	for _, tflops := range []float64{410, 300, 400} {
		ranks.Ranks = append(ranks.Ranks, training.Rank{Steps: []training.Step{{Step: int(p.Training.WarmupSteps.Value) + 1, TFLOPS: new(tflops)}}})
	}
	seen := &checktest.Observed{T: t}
	seen.Add(training.KindRanks, "job", true, ranks)
	if got := measure(training.Name, seen.List, basis{profile: p}); len(got) != 1 || !slices.Equal(got[0].Values, []float64{400}) {
		t.Errorf("%+v, want 400 TFLOPS", got)
	}
}
