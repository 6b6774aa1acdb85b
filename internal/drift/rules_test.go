package drift

import (
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/checktest"
	"github.com/firstlight/firstlight/internal/gate/collective"
	"github.com/firstlight/firstlight/internal/gate/inference"
	"github.com/firstlight/firstlight/internal/gate/node"
	"github.com/firstlight/firstlight/internal/gate/training"
	"github.com/firstlight/firstlight/internal/probe/infiniband"
	probenccl "github.com/firstlight/firstlight/internal/probe/nccl"
	"github.com/firstlight/firstlight/internal/probe/nvidia"
	"github.com/firstlight/firstlight/internal/profile"
	"github.com/firstlight/firstlight/internal/site"
)

// Observations as gate node records them.
const (
	kindSMI = "nvidia-smi"
	kindHCA = "ibstat"
)

type smiSeen struct {
	Log *nvidia.SMILog `json:"log"`
}

type hcasSeen struct {
	HCAs []infiniband.HCA `json:"hcas"`
}

// rig is the comparison of the stack of two hosts, and its healthy observations.
func rig(t *testing.T) (stack, []check.Observation) {
	t.Helper()
	p, err := profile.Load("h100-sxm-ndr400")
	if err != nil {
		t.Fatal(err)
	}
	s := &site.Site{Inventory: site.Inventory{Nodes: []site.Node{{Name: "gpu-01"}, {Name: "gpu-02"}}}}
	s.Fabric.HCAs = []string{"mlx5_0"}
	s.Workloads.Collective.Image, s.Workloads.Training.Image, s.Workloads.Inference.Image = "c@sha256:1", "t@sha256:2", "i@sha256:3"
	seen := &checktest.Observed{T: t}
	for _, n := range s.NodeNames() {
		seen.Add(kindSMI, n, true, smiSeen{&nvidia.SMILog{Driver: "580.1"}})
		seen.Add(kindHCA, n, true, hcasSeen{[]infiniband.HCA{{Name: "mlx5_0", Type: "MT4129", Firmware: "28.39"}}})
	}
	now, err := Declared(s, p)
	if err != nil {
		t.Fatal(err)
	}
	now["driver"], now["firmware of MT4129"], now[nccl] = []string{"580.1"}, []string{"28.39"}, []string{"2.28.7"}
	return stack{site: s, profile: p, baseline: Baseline{Run: "r", Stack: now}, versions: node.NewVersions(s, p, node.Deps{})}, seen.List
}

// TestStackRules: each component of the stack is that of the baseline, on every host.
func TestStackRules(t *testing.T) {
	t.Parallel()
	s, obs := rig(t)
	checktest.Rules(t, s.Judge, obs, []checktest.Rule{
		checktest.When("the same stack").Passes(),
		checktest.When("another driver on all hosts", checktest.Set(kindSMI, ".log.driver", "590.2")).Unobserved("driver", "580.1 then, 590.2 now"),
		checktest.When("another driver on a host", checktest.Set(kindSMI+"@gpu-02", ".log.driver", "590.2")).Unobserved("driver", "580.1 then, 580.1 and 590.2 now"),
		checktest.When("another firmware on a host", checktest.Set(kindHCA+"@gpu-01", ".hcas[0].firmware", "28.40")).Unobserved("firmware of MT4129", "28.39 then, 28.39 and 28.40 now"),
		checktest.When("no document of a host", checktest.Set(kindSMI+"@gpu-02", ".log", checktest.LeftOut)).Unobserved("gpu-02", "nvidia-smi has no document"),
		checktest.When("no adapter", checktest.Set(kindHCA, ".hcas", []int{})).Unobserved("firmware of MT4129", "28.39 then, unknown now"),
	})
	for name, change := range map[string]func(*site.Site){
		"image of collective": func(s *site.Site) { s.Workloads.Collective.Image = "other" },
		"image of training":   func(s *site.Site) { s.Workloads.Training.Image = "other" },
		"image of inference":  func(s *site.Site) { s.Workloads.Inference.Image = "other" },
	} {
		s, obs := rig(t)
		change(s.site)
		checktest.Judged(t, s.Judge(obs), check.Unobserved, name, "other now")
	}
	profiled := s
	changed := *s.profile
	changed.Name = "other"
	profiled.profile = &changed
	checktest.Judged(t, profiled.Judge(obs), check.Unobserved, "profile", "other sha256:")
	for i, o := range obs { // every host shows both
		checktest.Judged(t, s.Judge(slices.Delete(slices.Clone(obs), i, i+1)), check.Unobserved, o.Target, "was not observed")
		broken := slices.Clone(obs)
		broken[i].Figures, broken[i].Err = nil, "no section"
		checktest.Judged(t, s.Judge(broken), check.Unobserved, o.Target, "no section")
	}
	// a baseline without a component, or without a stack, is not valid for it: the latter panicked
	for name, was := range map[string]Stack{"without the driver": {}, "without a stack": nil} {
		old := s
		if old.baseline.Stack = was; was != nil {
			maps.Copy(was, s.baseline.Stack)
			delete(was, "driver")
		}
		j := old.Judge(obs)
		checktest.Judged(t, j, check.Unobserved, "driver", "unknown then, 580.1 now")
		if len(j.Findings[0].Observations) != len(obs) {
			t.Errorf("%s: the finding names %d observations, want %d", name, len(j.Findings[0].Observations), len(obs))
		}
	}
	if f := s.Judge(nil).Findings; len(f) < 4 {
		t.Errorf("nothing observed: %+v", f)
	}
}

// TestTheTolerance: noise of either run, and few values, widen the tolerance of a figure.
func TestTheTolerance(t *testing.T) {
	t.Parallel()
	b := testBands(t)
	limits := b.Gates[training.Name]
	steady := Figure{HigherIsBetter: true, Values: slices.Repeat([]float64{100}, 8)}
	noisy := Figure{HigherIsBetter: true, Values: []float64{80, 90, 95, 100, 100, 105, 110, 120}}
	least := b.Deviations * limits.Noise * medianError * math.Sqrt(1.0/8+1.0/8)
	for name, tt := range map[string]struct {
		was, is Figure
		wider   bool
	}{"steady": {steady, steady, false}, "a noisy baseline": {noisy, steady, true}, "a noisy run": {steady, noisy, true}} {
		c := compareFigure(tt.was, tt.is, limits, b.Deviations)
		if want := max(limits.Warn, least); (c.tolerance > want+1e-9) != tt.wider || c.tolerance < want-1e-9 {
			t.Errorf("%s: tolerance %g, at least %g, wider %t", name, c.tolerance, want, tt.wider)
		}
	}
	few := Figure{HigherIsBetter: true, Values: []float64{100, 100, 100}}
	if c := compareFigure(few, few, limits, b.Deviations); math.Abs(c.noise-b.Deviations*limits.Noise*medianError*math.Sqrt(2.0/3)) > 1e-9 || c.tolerance != c.noise {
		t.Errorf("three values: %+v", c)
	}
	if c := compareFigure(few, few, b.Gates[collective.Name], b.Deviations); c.tolerance != b.Gates[collective.Name].Replace || c.noise <= c.tolerance {
		t.Errorf("the tolerance of three noisy values is more than replace: %+v", c)
	}
	at := band{Warn: 0.25, Replace: 0.5, Noise: 0.001, Source: "test"}
	whole := func(v float64) Figure { return Figure{Values: slices.Repeat([]float64{v}, 64)} }
	for is, want := range map[float64]string{125: bandExpected, 126: bandWarn, 149: bandWarn, 150: bandReplace} {
		if c := compareFigure(whole(100), whole(is), at, 1); c.band != want || c.was != 100 || c.is != is {
			t.Errorf("%g: %+v, want %s", is, c, want)
		}
	}
}

// TestComparedRules: a gate that fails by its own criterion, figures and limits of a comparison.
func TestComparedRules(t *testing.T) {
	t.Parallel()
	base := Baseline{Run: "r", Figures: []Figure{
		{Gate: inference.Name, Name: "TTFT", Unit: "ms", Values: slices.Repeat([]float64{100}, 64)},
		{Gate: training.Name, Name: "step time", Unit: "ms", Values: []float64{1}}, // of another gate
	}}
	c := compared{Check: passes{inference.Name}, baseline: base, bands: testBands(t)}
	j := c.Judge(loadOf(t, slices.Repeat([]float64{101}, 64)...))
	checktest.Judged(t, j, check.Passed, "", "")
	if len(j.Figures) != 1 || j.Figures[0].Name != "TTFT" || j.Figures[0].Value != 101 || math.Abs(j.Figures[0].Limit-115) > 0.1 || j.Figures[0].Relation != "<=" {
		t.Errorf("figures %+v", j.Figures)
	}
	j = c.Judge(loadOf(t, slices.Repeat([]float64{140}, 64)...))
	if checktest.Judged(t, j, check.Failed, "cluster", "warn: TTFT is 140 ms"); len(j.Findings[0].Observations) != 1 || j.Findings[0].Observations[0] != "1" {
		t.Errorf("the observations of a finding: %+v", j.Findings)
	}
	// The noise of a run widened its own tolerance without a limit: a loss of 60 % was as expected.
	noisy := loadOf(t, 20, 30, 40, 160, 160, 280, 290, 300)
	checktest.Judged(t, c.Judge(noisy), check.Unobserved, "TTFT", "TTFT is 160 ms, 60.0 % worse than the 100 ms of run r: replace begins at 50 %, but the values vary so much that up to ")
	checktest.Judged(t, c.Judge(loadOf(t, slices.Repeat([]float64{160}, 8)...)), check.Failed, "cluster", "replace: TTFT is 160 ms")
	// the gate's own figures are kept
	c.Check = figured{passes{inference.Name}}
	if j := c.Judge(loadOf(t, slices.Repeat([]float64{101}, 64)...)); len(j.Figures) != 2 || j.Figures[0].Name != "own" {
		t.Errorf("figures %+v", j.Figures)
	}
	c.Check = passes{inference.Name}
	// a stall explains what it is as long as
	checktest.Judged(t, c.Judge(stalledFor(40, loadOf(t, 140, 140, 140, 140, 140))), check.Unobserved, "firstlight's own machine", "40.0 ms longer")
	checktest.Judged(t, c.Judge(stalledFor(39, loadOf(t, 140, 140, 140, 140, 140))), check.Failed, "cluster", "warn: ")
	// the gate's own criterion is first
	c.Check = fails{passes{inference.Name}}
	checktest.Judged(t, c.Judge(loadOf(t, 100, 100, 100)), check.Failed, "own", "criterion")
	if f := figureOf(Figure{Name: "busbw", HigherIsBetter: true}, change{was: 400, is: 390, tolerance: 0.1}, "r"); f.Limit != 360 || f.Relation != ">=" || f.Value != 390 {
		t.Errorf("%+v", f)
	}
	// NCCL is compared with the figures of gate collective
	nc := compared{Check: passes{collective.Name}, baseline: Baseline{Run: "r", Stack: Stack{nccl: {"2.28.7"}}}, bands: testBands(t)}
	checktest.Judged(t, nc.Judge(nil), check.Unobserved, nccl, "2.28.7 then, unknown now")
	if f := nc.Judge(nil).Findings; !slices.ContainsFunc(f, func(f check.Finding) bool {
		return f.Suspect == "baseline" && strings.Contains(f.Message, "no figure of gate collective")
	}) {
		t.Errorf("no figure of the gate: %+v", f)
	}
}

// TestNCCLRules: a run over all nodes is compared by its version of NCCL and its bandwidth.
func TestNCCLRules(t *testing.T) {
	t.Parallel()
	p, err := profile.Load("h100-sxm-ndr400")
	if err != nil {
		t.Fatal(err)
	}
	runs := func(scope, version string, busBW ...float64) []check.Observation {
		f := collective.Figures{Scope: scope, Nodes: []string{"gpu-01", "gpu-02"}, MaxBytes: 1 << 30, NCCL: probenccl.Log{Versions: []string{version}}}
		for _, bw := range busBW {
			side := &probenccl.Side{BusBW: bw}
			f.Runs = append(f.Runs, probenccl.Run{Rows: []probenccl.Row{{Bytes: 1 << 30, OutOfPlace: side, InPlace: side}}})
		}
		seen := &checktest.Observed{T: t}
		seen.Add(collective.KindRun, "all", true, f)
		return seen.List
	}
	const name = "all_reduce busbw of 2 nodes up to 1073741824 bytes"
	same := slices.Repeat([]float64{400}, 8)
	c := compared{Check: passes{collective.Name}, profile: p, bands: testBands(t), baseline: Baseline{Run: "r", Stack: Stack{nccl: {"2.28.7"}}}}
	c.baseline.Figures = measure(collective.Name, runs(collective.ScopeAll, "2.28.7", same...), basis{profile: p, fromBytes: c.bands.Sizes.FromBytes})
	checktest.Judged(t, c.Judge(runs(collective.ScopeAll, "2.28.7", same...)), check.Passed, "", "")
	checktest.Judged(t, c.Judge(runs(collective.ScopeAll, "2.29.0", same...)), check.Unobserved, nccl, "2.28.7 then, 2.29.0 now")
	checktest.Judged(t, c.Judge(runs(collective.ScopeAll, "2.28.7", slices.Repeat([]float64{300}, 8)...)), check.Failed, "cluster", "replace: "+name+" is 300 GB/s, 25.0 % worse")
	checktest.Judged(t, c.Judge(runs("pair", "2.28.7", same...)), check.Unobserved, name, "was not observed again")
	checktest.Judged(t, c.Judge(runs(collective.ScopeAll, "2.28.7")), check.Unobserved, name, "was not observed again")
	// gates without NCCL are not compared by it
	c.Check = passes{inference.Name}
	if j := c.Judge(loadOf(t, 100)); slices.ContainsFunc(j.Findings, func(f check.Finding) bool { return f.Suspect == nccl }) {
		t.Errorf("NCCL of gate inference: %+v", j.Findings)
	}
}

// figured is a gate that passes with a figure.
type figured struct{ passes }

func (figured) Judge([]check.Observation) check.Judgement {
	return check.Judgement{Verdict: check.Passed, Reason: "fine", Figures: []check.Figure{{Name: "own", Value: 1}}}
}

// fails is a gate that fails.
type fails struct{ passes }

func (fails) Judge([]check.Observation) check.Judgement {
	return check.Judgement{Verdict: check.Failed, Reason: "own", Findings: []check.Finding{{Suspect: "own", Message: "criterion", Remedy: "mend it"}}}
}

// TestMeasuredFigures: which values of the observations are compared.
func TestMeasuredFigures(t *testing.T) {
	t.Parallel()
	p, err := profile.Load("h100-sxm-ndr400")
	if err != nil {
		t.Fatal(err)
	}
	warmup := int(p.Training.WarmupSteps.Value)
	ms := func(v float64) *float64 { return &v }
	seen := &checktest.Observed{T: t}
	var ranks training.RankFigures
	for _, slow := range []float64{0, 5} { // two ranks; the second is slower and has less
		var r training.Rank
		r.Steps = []training.Step{{Step: warmup, Ms: ms(900), TFLOPS: ms(1)}, {Step: warmup + 1, Ms: ms(100 + slow), TFLOPS: ms(400 - slow)}, {Step: warmup + 2, Ms: ms(110 + slow), TFLOPS: ms(380 - slow)}, {Step: warmup + 3}}
		ranks.Ranks = append(ranks.Ranks, r)
	}
	seen.Add(training.KindRanks, "job", true, ranks)
	got := measure(training.Name, seen.List, basis{profile: p})
	if len(got) != 2 || got[0].Name != "step time" || !slices.Equal(got[0].Values, []float64{105, 115}) || got[0].HigherIsBetter || len(got[1].Values) != 2 || !got[1].HigherIsBetter || got[1].Values[0] > 380 {
		t.Errorf("%+v", got)
	}
	if got := measure("node", seen.List, basis{profile: p}); got != nil {
		t.Errorf("a gate without figures has %+v", got)
	}
	load := inference.LoadFigures{Requests: []inference.Request{{TTFT: ms(30), TPOT: ms(3)}, {TTFT: ms(20)}, {}}}
	for client, suffix := range map[string]string{"": "", site.ClientCluster: " inside the cluster"} {
		load.Client = client
		seen := &checktest.Observed{T: t}
		seen.Add(inference.KindLoad, "", true, load)
		got := measure(inference.Name, seen.List, basis{profile: p})
		if len(got) != 2 || got[0].Name != "TTFT"+suffix || !slices.Equal(got[0].Values, []float64{20, 30}) || got[1].Name != "TPOT"+suffix || !slices.Equal(got[1].Values, []float64{3}) {
			t.Errorf("client %q: %+v", client, got)
		}
	}
}
