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
	"github.com/firstlight/firstlight/internal/gate/collective"
	probenccl "github.com/firstlight/firstlight/internal/probe/nccl"
	"github.com/firstlight/firstlight/internal/profile"
)

// suite is a run of the whole suite and of each rail on 64 nodes: 13 curves of 12 sizes, 3 repetitions.
type suite struct {
	seed  uint64
	noise float64
	// sizes from this one on; 0: 8 MiB.
	from int64
	// loss of a collective ("" is the all-reduce) or rail at a size, as a fraction.
	loss func(of string, bytes int64) float64
}

const (
	mib     = 1 << 20
	nCurves = 13
	allOf64 = "all_reduce busbw of 64 nodes"
)

func (s suite) observe(t *testing.T) []check.Observation {
	t.Helper()
	rng := rand.New(rand.NewPCG(s.seed, 17))
	seen := &checktest.Observed{T: t}
	add := func(of string, f collective.Figures) {
		f.Nodes, f.MaxBytes = slices.Repeat([]string{"gpu"}, 64), 16<<30
		for range 3 {
			var run probenccl.Run
			for bytes := max(s.from, 8*mib); bytes <= f.MaxBytes; bytes *= 2 {
				busbw := 480 * float64(bytes) / float64(bytes+64*mib) * (1 + s.noise*rng.NormFloat64())
				if s.loss != nil {
					busbw *= 1 - s.loss(of, bytes)
				}
				side := &probenccl.Side{BusBW: busbw}
				run.Rows = append(run.Rows, probenccl.Row{Bytes: bytes, OutOfPlace: side, InPlace: side})
			}
			f.Runs = append(f.Runs, run)
		}
		seen.Add(collective.KindRun, of, true, f)
	}
	add("", collective.Figures{Scope: collective.ScopeAll})
	for _, of := range []string{profile.AllGather, profile.ReduceScatter, profile.AllToAll, profile.SendRecv} {
		add(of, collective.Figures{Scope: collective.ScopeAll, Collective: of})
	}
	for i := range 8 {
		rail := fmt.Sprintf("mlx5_%d", i)
		add(rail, collective.Figures{Scope: collective.ScopeRail, Rail: rail})
	}
	return seen.List
}

// midSizes is a loss of the all-reduce at 8 to 64 MiB.
func midSizes(loss float64) func(string, int64) float64 {
	return func(of string, bytes int64) float64 {
		if of == "" && bytes <= 64*mib {
			return loss
		}
		return 0
	}
}

// sized compares runs of gate collective with the baseline of a run.
func sized(t *testing.T, recorded []check.Observation) compared {
	t.Helper()
	p, err := profile.Load("h100-sxm-ndr400")
	if err != nil {
		t.Fatal(err)
	}
	c := compared{Check: passes{collective.Name}, profile: p, bands: testBands(t), baseline: Baseline{Run: "r"}}
	c.baseline.Figures = measure(collective.Name, recorded, basis{profile: p, fromBytes: c.bands.Sizes.FromBytes})
	return c
}

// 2 % noise raises nothing in 200 runs of 169 figures. With the bands of the largest sizes, single sizes do.
func TestNoiseOfSizesIsNoDrift(t *testing.T) {
	t.Parallel()
	raised := 0
	for seed := range uint64(200) {
		c := sized(t, suite{seed: 2 * seed, noise: 0.02}.observe(t))
		now := suite{seed: 2*seed + 1, noise: 0.02}.observe(t)
		j := c.Judge(now)
		if j.Verdict != check.Passed || len(j.Findings) > 0 || !strings.Contains(j.Reason, fmt.Sprintf("figures compared: %d", nCurves*13)) || len(j.Figures) != 2*nCurves {
			t.Errorf("seed %d: %s %s %+v", seed, j.Verdict, j.Reason, j.Findings)
		}
		c.bands.Sizes.band = c.bands.Gates[collective.Name]
		if c.Judge(now).Verdict != check.Passed {
			raised++
		}
	}
	t.Logf("with the bands of the largest sizes: %d of 200 runs", raised)
	if raised == 0 {
		t.Error("the bands of the largest sizes raise nothing at single sizes either: the control is broken")
	}
}

// A loss at single sizes is found in each of 200 runs, by one finding with the sizes; the figure of the largest sizes,
// the only one of an older baseline, does not show it.
func TestALossAtMidSizesIsFound(t *testing.T) {
	t.Parallel()
	found := map[float64]int{}
	for seed := range uint64(200) {
		c := sized(t, suite{seed: 2 * seed, noise: 0.02}.observe(t))
		for _, loss := range []float64{0.3, 0.2, 0.15, 0.1} {
			j := c.Judge(suite{seed: 2*seed + 1, noise: 0.02, loss: midSizes(loss)}.observe(t))
			if j.Verdict == check.Failed {
				found[loss]++
			}
			if loss < 0.3 {
				continue
			}
			checktest.Judged(t, j, check.Failed, allOf64, "replace: "+allOf64+" is worse at 4 of 12 message sizes (8388608 to 67108864 bytes), and as expected at the largest sizes together: at ")
			if len(j.Findings) != 1 || len(j.Findings[0].Observations) != nCurves || !strings.Contains(j.Findings[0].Message, " % worse than the ") {
				t.Fatalf("seed %d: %+v", seed, j.Findings)
			}
		}
	}
	t.Logf("found of 200, by loss: %v", found)
	if found[0.3] != 200 || found[0.2] < 195 {
		t.Errorf("found of 200, by loss: %v", found)
	}
	old := sized(t, suite{noise: 0.02}.observe(t))
	old.baseline.Figures = slices.DeleteFunc(old.baseline.Figures, func(f Figure) bool { return f.Bytes > 0 })
	j := old.Judge(suite{seed: 1, noise: 0.02, loss: midSizes(0.3)}.observe(t))
	if j.Verdict != check.Passed || len(j.Findings) != 1 || !strings.Contains(j.Findings[0].Message, "not in the baseline of run r, and so not compared: busbw at single message sizes (156)") {
		t.Errorf("an older baseline: %s %+v", j.Verdict, j.Findings)
	}
}

// TestSizesRules: sizes are compared by themselves, and reported once.
func TestSizesRules(t *testing.T) {
	t.Parallel()
	c := sized(t, suite{}.observe(t))
	with := func(loss func(string, int64) float64) check.Judgement { return c.Judge(suite{loss: loss}.observe(t)) }
	at := func(loss float64, sizes ...int64) func(string, int64) float64 {
		return func(of string, bytes int64) float64 {
			if of == "mlx5_3" && slices.Contains(sizes, bytes/mib) {
				return loss
			}
			return 0
		}
	}
	const rail = allOf64 + " over rail mlx5_3"
	checktest.Judged(t, with(nil), check.Passed, "", "")
	checktest.Judged(t, with(at(0.15, 8)), check.Failed, rail, "warn: "+rail+" is worse at 1 of 12 message sizes (8388608 bytes)")
	checktest.Judged(t, with(at(0.25, 16, 32, 128)), check.Failed, rail, "replace: "+rail+" is worse at 3 of 12 message sizes (16777216 to 33554432, 134217728 bytes)")
	checktest.Judged(t, with(at(-0.5, 8, 16, 32)), check.Passed, "", "")
	// a loss of all sizes is that of the largest ones
	everywhere := func(of string, _ int64) float64 { return map[string]float64{"": 0.3}[of] }
	if j := with(everywhere); j.Verdict != check.Failed || len(j.Findings) != 1 || j.Findings[0].Suspect != "cluster" || !strings.Contains(j.Findings[0].Message, "up to 17179869184 bytes") {
		t.Errorf("a loss of all sizes: %s %+v", j.Verdict, j.Findings)
	}
	// the figure of a curve is the size of the largest loss
	j := with(at(0.05, 64))
	i := slices.IndexFunc(j.Figures, func(f check.Figure) bool { return f.Name == rail+", loss at the worst single size" })
	if i < 0 || math.Abs(j.Figures[i].Value-0.05) > 1e-9 || j.Figures[i].Limit < c.bands.Sizes.Warn || !strings.HasPrefix(j.Figures[i].Source, "at 67108864 bytes, the worst of 12 sizes: ") {
		t.Errorf("figures %+v", j.Figures)
	}
	// a size that is not observed again
	checktest.Judged(t, c.Judge(suite{from: 32 * mib}.observe(t)), check.Unobserved, rail, rail+" at 8388608, 16777216 bytes is in the baseline of run r and was not observed again")
	// the noise of all sizes is that of each: a loss that it may explain is unclear
	noisy := sized(t, suite{seed: 1, noise: 0.2}.observe(t))
	noisy.baseline.Figures = slices.DeleteFunc(noisy.baseline.Figures, func(f Figure) bool { return f.Bytes == 0 })
	j = noisy.Judge(suite{seed: 2, noise: 0.2, loss: at(0.5, 8)}.observe(t))
	checktest.Judged(t, j, check.Unobserved, rail, "bytes is worse by 20 % or more than in run r, where replace begins, but the values vary so much that up to ")
}

// Sizes below the smallest one have no figure, and a size that a repetition did not reach has none.
func TestSizesWithAFigure(t *testing.T) {
	t.Parallel()
	side := &probenccl.Side{BusBW: 100}
	row := func(bytes int64) probenccl.Row { return probenccl.Row{Bytes: bytes, InPlace: side} }
	f := collective.Figures{Scope: collective.ScopeAll, Nodes: []string{"a", "b"}, Runs: []probenccl.Run{
		{Rows: []probenccl.Row{row(4 * mib), row(8*mib - 1024), row(16 * mib), row(32 * mib)}}, {Rows: []probenccl.Row{row(4 * mib), row(8*mib - 1024), row(16 * mib)}},
	}}
	var got []int64
	for _, s := range f.BySize(testBands(t).Sizes.FromBytes) {
		got = append(got, s.Bytes)
		if len(s.BusBW) != 2 {
			t.Errorf("%+v", s)
		}
	}
	if want := []int64{8*mib - 1024, 16 * mib}; !slices.Equal(got, want) {
		t.Errorf("sizes %d, want %d", got, want)
	}
}

// The correction is Bonferroni's: the sum of the chances of n comparisons is the chance of one.
func TestTheCorrection(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]float64{0: 4.4, 1: 4.4, 12: 4.91, 156: 5.40} {
		got := corrected(4.4, n)
		if math.Abs(got-want) > 0.01 || math.Abs(chance(got)*float64(max(1, n))/chance(4.4)-1) > 1e-3 {
			t.Errorf("of %d: %g, want %g", n, got, want)
		}
	}
}

// The noise of many small groups is close to that of their values.
func TestNoiseOf(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 1))
	for _, n := range []int{2, 3, 5} {
		var figures []Figure
		for range 1000 {
			figures = append(figures, sample(rng, n, 400, 0.04))
		}
		if got := noiseOf(figures); got < 0.026 || got > 0.052 {
			t.Errorf("%d values: %g, want about 0.04", n, got)
		}
	}
	if got := noiseOf([]Figure{{Values: []float64{3}}, {Values: []float64{4}}}); got != 0 {
		t.Errorf("one value each: %g", got)
	}
}
