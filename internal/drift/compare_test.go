package drift

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/gate/collective"
	"github.com/firstlight/firstlight/internal/gate/inference"
	"github.com/firstlight/firstlight/internal/gate/training"
	"github.com/firstlight/firstlight/internal/plan"
)

func testBands(t *testing.T) bands {
	t.Helper()
	b, err := loadBands()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// sample draws n values around a median with relative noise.
func sample(rng *rand.Rand, n int, median, noise float64) Figure {
	f := Figure{Name: "f", Unit: "u", HigherIsBetter: true}
	for range n {
		f.Values = append(f.Values, median*(1+noise*rng.NormFloat64()))
	}
	return f
}

// 200 comparisons of each gate's figures with 2 % noise (inference: 5 %) are as expected.
func TestNoiseIsNoDrift(t *testing.T) {
	t.Parallel()
	b := testBands(t)
	for gate, tt := range map[string]struct {
		n     int
		noise float64
	}{collective.Name: {3, 0.02}, training.Name: {50, 0.02}, inference.Name: {48, 0.05}} {
		for seed := range uint64(200) {
			rng := rand.New(rand.NewPCG(seed, 3))
			c := compareFigure(sample(rng, tt.n, 400, tt.noise), sample(rng, tt.n, 400, tt.noise), b.Gates[gate], b.Deviations)
			if c.band != bandExpected {
				t.Errorf("%s, seed %d: %+v", gate, seed, c)
			}
		}
	}
}

func TestBandsOfAFigure(t *testing.T) {
	t.Parallel()
	b := testBands(t)
	exact := func(v float64, higher bool) Figure {
		return Figure{HigherIsBetter: higher, Values: slices.Repeat([]float64{v}, 50)}
	}
	for name, tt := range map[string]struct {
		was, is float64
		higher  bool
		want    string
	}{
		"equal":                   {100, 100, true, bandExpected},
		"faster":                  {100, 150, true, bandExpected},
		"a little slower":         {100, 97, true, bandExpected},
		"slower":                  {100, 96, true, bandWarn},
		"much slower":             {100, 92, true, bandReplace},
		"a shorter step time":     {100, 50, false, bandExpected},
		"a little longer":         {100, 103, false, bandExpected},
		"a longer step time":      {100, 104, false, bandWarn},
		"a much longer step time": {100, 108, false, bandReplace},
	} {
		if c := compareFigure(exact(tt.was, tt.higher), exact(tt.is, tt.higher), b.Gates[training.Name], b.Deviations); c.band != tt.want {
			t.Errorf("%s: %+v, want %s", name, c, tt.want)
		}
	}
}

// passes is a gate that passes.
type passes struct{ name string }

func (p passes) Name() string                                { return p.name }
func (passes) Judge([]check.Observation) check.Judgement     { return check.Pass("fine") }
func (passes) Observe(context.Context, check.Recorder) error { return nil }

func loadOf(t *testing.T, ttft ...float64) []check.Observation {
	t.Helper()
	var f inference.LoadFigures
	for _, ms := range ttft {
		f.Requests = append(f.Requests, inference.Request{TTFT: &ms})
	}
	o, err := check.Observation{ID: "1", Kind: inference.KindLoad}.WithFigures(f)
	if err != nil {
		t.Fatal(err)
	}
	return []check.Observation{o}
}

// stalledFor is a load whose measuring machine stalled.
func stalledFor(ms float64, obs []check.Observation) []check.Observation {
	f, err := check.Decode[inference.LoadFigures](obs[0])
	if err != nil {
		panic(err)
	}
	f.ClientStall = ms - 10
	f.ServerLate = &inference.ServerLate{Max: 10}
	o, err := obs[0].WithFigures(f)
	if err != nil {
		panic(err)
	}
	return []check.Observation{o}
}

func TestAComparedGate(t *testing.T) {
	t.Parallel()
	base := Baseline{Run: "r", Figures: []Figure{{Gate: inference.Name, Name: "TTFT", Unit: "ms", Values: slices.Repeat([]float64{100}, 20)}}}
	c := compared{Check: passes{inference.Name}, baseline: base, bands: testBands(t)}
	for name, tt := range map[string]struct {
		obs     []check.Observation
		verdict check.Verdict
		message string
	}{
		"as before":                   {loadOf(t, 101, 99, 100, 100, 100), check.Passed, ""},
		"slower":                      {loadOf(t, 140, 139, 141, 140, 140), check.Failed, "warn: TTFT is 140 ms, 40.0 % worse than the 100 ms of run r"},
		"twice":                       {loadOf(t, 200, 199, 201, 200, 200), check.Failed, "replace: "},
		"stalled":                     {stalledFor(50, loadOf(t, 140, 139, 141, 140, 140)), check.Unobserved, "firstlight was not scheduled for up to 50.0 ms"},
		"not the stall":               {stalledFor(30, loadOf(t, 140, 139, 141, 140, 140)), check.Failed, "warn: "},
		"a stalled load was repeated": {append(loadOf(t, 300, 300, 300, 300, 300), loadOf(t, 101, 99, 100, 100, 100)...), check.Passed, ""},
		"not observed":                {nil, check.Unobserved, "was not observed again"},
	} {
		j := c.Judge(tt.obs)
		if j.Verdict != tt.verdict || tt.message != "" && !strings.Contains(fmt.Sprint(j.Findings), tt.message) {
			t.Errorf("%s: %s %+v", name, j.Verdict, j.Findings)
		}
	}
	c.baseline.Figures = nil
	if j := c.Judge(loadOf(t, 100)); j.Verdict != check.Unobserved {
		t.Errorf("without baseline: %s", j.Verdict)
	}
}

// loweredGate is a gate with a limit that the site lowers.
type loweredGate struct{ passes }

func (loweredGate) Lowered() []string { return []string{"minMFU is 0.1, the profile's is 0.36"} }

// A comparison passed by the limits that the site lowers, and its verdict did not name them.
func TestAComparedGateNamesLoweredLimits(t *testing.T) {
	t.Parallel()
	base := Baseline{Run: "r", Figures: []Figure{{Gate: inference.Name, Name: "TTFT", Unit: "ms", Values: slices.Repeat([]float64{100}, 20)}}}
	for _, c := range []struct {
		gate check.Check
		ttft float64
		want int
	}{
		{loweredGate{passes{inference.Name}}, 100, 1},
		{loweredGate{passes{inference.Name}}, 200, 0}, // fails, as a gate that fails names none
		{passes{inference.Name}, 100, 0},
	} {
		j := plan.Judge(compared{Check: c.gate, baseline: base, bands: testBands(t)}, loadOf(t, c.ttft))
		if len(j.Lowered) != c.want || (j.Verdict == check.Passed) != (c.ttft == 100) {
			t.Errorf("%T: %s, lowered %q, want %d", c.gate, j.Verdict, j.Lowered, c.want)
		}
	}
}

// A changed stack is neither drift nor a pass.
func TestAChangedStackIsUnobserved(t *testing.T) {
	t.Parallel()
	base := Baseline{Run: "r", Stack: Stack{"driver": {"580.1"}, nccl: {"2.28.7"}, "firmware of MT4129": {"28.39"}}}
	for name, tt := range map[string]struct {
		now     Stack
		nccl    bool
		suspect string
	}{
		"equal":            {Stack{"driver": {"580.1"}, "firmware of MT4129": {"28.39"}}, false, ""},
		"driver":           {Stack{"driver": {"590.2"}, "firmware of MT4129": {"28.39"}}, false, "driver"},
		"mixed":            {Stack{"driver": {"580.1", "590.2"}, "firmware of MT4129": {"28.39"}}, false, "driver"},
		"firmware missing": {Stack{"driver": {"580.1"}}, false, "firmware of MT4129"},
		"same NCCL":        {Stack{nccl: {"2.28.7"}}, true, ""},
		"another NCCL":     {Stack{nccl: {"2.29.0"}}, true, nccl},
		"NCCL silent":      {Stack{}, true, nccl},
	} {
		var b check.Builder
		base.differ(&b, tt.now, tt.nccl, []string{"1"})
		j := b.Judgement("equal")
		switch {
		case tt.suspect == "" && j.Verdict == check.Passed:
		case tt.suspect != "" && j.Verdict == check.Unobserved && len(j.Findings) == 1 && j.Findings[0].Suspect == tt.suspect && strings.Contains(j.Findings[0].Remedy, "firstlight accept;"):
		default:
			t.Errorf("%s: %+v", name, j)
		}
	}
}

func TestParseBaseline(t *testing.T) {
	t.Parallel()
	good := Baseline{Format: formatVersion, Run: "r", Figures: []Figure{{Name: "f", Values: []float64{1}}}}
	data, err := good.Encode()
	if err != nil {
		t.Fatal(err)
	}
	if b, err := Parse(data); err != nil || b.Run != "r" {
		t.Errorf("%+v, %v", b, err)
	}
	for _, bad := range [][2]string{{`"format": 1`, `"format": 2`}, {`"run": "r"`, `"run": ""`}, {`"run": "r"`, `"ran": "r"`}, {"1\n      ]", "0\n      ]"}} {
		changed := strings.Replace(string(data), bad[0], bad[1], 1)
		if _, err := Parse([]byte(changed)); err == nil || changed == string(data) {
			t.Errorf("%s is accepted: %s", bad[1], changed)
		}
	}
}
