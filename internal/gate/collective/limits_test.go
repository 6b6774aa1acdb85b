package collective

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/checktest"
	"github.com/firstlight/firstlight/internal/gate/gangjob"
	"github.com/firstlight/firstlight/internal/plan"
	"github.com/firstlight/firstlight/internal/probe/nccl"
)

// A bandwidth is that of its bytes and its time, up to the tolerance and to what printing
// rounds away.
func TestBelongs(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		bytes    int64
		time, bw float64
		want     bool
	}{
		"exactly":                        {1e9, 1e4, 100, true},
		"within the tolerance":           {1e9, 1e4, 100.9, true},
		"beyond the tolerance":           {1e9, 1e4, 102, false},
		"below the tolerance":            {1e9, 1e4, 98, false},
		"no time":                        {1e9, 0, 100, false},
		"a time below zero":              {1e9, -1, 100, false},
		"the last digit of a bandwidth":  {1e4, 1e3, 0.0104, true},
		"the last digit of a long time":  {1010050000, 1e4, 100, true},
		"the last digit of a short time": {101300, 1, 100, true},
		"a long time in two digits":      {12e10, 1.2e7, 10.5, true},
		"a time that is not long enough": {12e9, 1.2e6, 10.5, false},
	} {
		if got := belongs(tt.bytes, nccl.Side{TimeUS: tt.time, AlgBW: tt.bw}, 0.01); got != tt.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestTooSmallToPrint(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		bytes int64
		time  float64
		want  bool
	}{
		"below the last digit": {99, 10, true}, "the last digit": {100, 10, false}, "without a time": {99, 0, false}, "large": {1e9, 10, false},
	} {
		if got := tooSmallToPrint(tt.bytes, nccl.Side{TimeUS: tt.time}); got != tt.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// The lower one of two in the middle; a size that a repetition lacks does not count.
func TestPoints(t *testing.T) {
	t.Parallel()
	row := func(bytes int64, bw float64) nccl.Row {
		s := nccl.Side{BusBW: bw, Wrong: new(int64(0))}
		return nccl.Row{Bytes: bytes, OutOfPlace: &s, InPlace: &s}
	}
	f := Figures{Runs: []nccl.Run{
		{Rows: []nccl.Row{row(1, 5), row(2, 30), row(4, 100), row(8, 7)}},
		{Rows: []nccl.Row{row(1, 6), row(2, 10), row(4, 80)}},
		{Rows: []nccl.Row{row(1, 7), row(2, 20), row(4, 90)}},
		{Rows: []nccl.Row{row(1, 8), row(2, 40), row(4, 70)}},
	}}
	want := []point{{bytes: 4, median: 80, lowest: 70}, {bytes: 2, median: 20, lowest: 10}}
	if diff := cmp.Diff(want, f.points(2), cmp.AllowUnexported(point{})); diff != "" {
		t.Error(diff)
	}
	if got := f.points(9); len(got) != 3 || got[2].median != 6 {
		t.Errorf("%+v", got)
	}
	if got := (Figures{}).points(3); len(got) != 0 {
		t.Errorf("%+v", got)
	}
}

// The ceiling times the fraction is enough, and a hair less is not.
func TestTheLimitOfBandwidth(t *testing.T) {
	t.Parallel()
	g := testGate(t, testSite())
	_, obs := observeAndJudge(t, g, cluster{})
	f, err := check.Decode[Figures](obs[0])
	if err != nil {
		t.Fatal(err)
	}
	worst := g.worst(f).median
	limit, row, ok := g.limit(Figures{Nodes: every()})
	if !ok || limit >= worst {
		t.Fatalf("limit %g, worst %g", limit, worst)
	}
	for name, tt := range map[string]struct {
		fraction float64
		want     check.Verdict
	}{
		"at the limit":     {worst / row.Busbw.Value, check.Passed},
		"below the limit":  {worst / row.Busbw.Value * 1.0001, check.Failed},
		"no limit":         {0, check.Unobserved},
		"a limit below it": {-0.1, check.Unobserved},
	} {
		g := testGate(t, testSite())
		g.profile.Collective.MinFraction.Value = tt.fraction
		if j := plan.Judge(g, obs); j.Verdict != tt.want {
			t.Errorf("%s: %s: %s", name, j.Verdict, j.Reason)
		}
	}
	one := testGate(t, testSite())
	for i := range one.profile.Collective.Ceilings {
		if c := &one.profile.Collective.Ceilings[i]; c.Busbw.Value == row.Busbw.Value {
			c.Busbw.Value = 0
		} else {
			c.Busbw.Value = 2 * row.Busbw.Value
		}
	}
	if j := plan.Judge(one, obs); j.Verdict != check.Unobserved {
		t.Errorf("a ceiling of zero for this number of nodes: %s: %s", j.Verdict, j.Reason)
	}
	sizes := testGate(t, testSite())
	sizes.profile.Collective.LargestSizes.Value = 0
	if j := plan.Judge(sizes, obs); j.Verdict != check.Unobserved {
		t.Errorf("no size is judged: %s: %s", j.Verdict, j.Reason)
	}
	none := testGate(t, testSite())
	for i := range none.profile.Collective.Ceilings {
		none.profile.Collective.Ceilings[i].Busbw.Value = 0
	}
	if j := plan.Judge(none, obs); j.Verdict != check.Unobserved {
		t.Errorf("a ceiling of zero: %s: %s", j.Verdict, j.Reason)
	}
}

// The profile decides which layer links have, and whether GPUDirect and NVLS are demanded.
func TestWhatTheProfileDemands(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		demand func(g *Gate)
		world  cluster
		want   check.Verdict
		who    string
	}{
		"GPUDirect is not demanded": {func(g *Gate) { g.profile.Collective.GPUDirect = false }, cluster{noGDR: map[string][]int{"gpu-03": {5}}}, check.Passed, ""},
		"NVLS is not demanded":      {func(g *Gate) { g.profile.Collective.NVLS = false }, cluster{noNVLS: set("gpu-02")}, check.Passed, ""},
		"links are of another kind": {func(g *Gate) { g.profile.Fabric.Kind = "roce" }, cluster{}, check.Failed, "gpu-01/mlx5_0"},
		"links are of no kind":      {func(g *Gate) { g.profile.Fabric.Kind = "" }, cluster{}, check.Passed, ""},
		"one device is all it has":  {func(g *Gate) { g.site.Fabric.HCAs = g.site.Fabric.HCAs[:1] }, cluster{}, check.Failed, "gpu-01/mlx5_1"},
		"more repetitions":          {func(g *Gate) { g.profile.Collective.Repetitions.Value = 5 }, cluster{}, check.Passed, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := testGate(t, testSite())
			tt.demand(g)
			j, _ := observeAndJudge(t, g, tt.world)
			if j.Verdict != tt.want || tt.who != "" && j.Findings[0].Suspect != tt.who {
				t.Errorf("%s: %s: %+v", j.Verdict, j.Reason, j.Findings)
			}
		})
	}
}

// These requirements on a run over all nodes are not in TestRules.
func TestRulesOfTheJob(t *testing.T) {
	t.Parallel()
	g := testGate(t, testSite())
	_, obs := observeAndJudge(t, g, cluster{})
	const launcher = "pod firstlight-test/collective-0-abcde"
	checktest.Rules(t, func(obs []check.Observation) check.Judgement { return plan.Judge(g, obs) }, obs, []checktest.Rule{
		checktest.When("fewer repetitions than the profile's are too few", checktest.Set(KindRun, ".repetitions", 2), checktest.Set(KindRun, ".runs[0]", checktest.LeftOut)).Unobserved("inventory", "ran 2 repetitions"),
		checktest.When("other GPUs a node are another job", checktest.Set(KindRun, ".gpusPerNode", 4)).Fails("gpu-01", "8 of 4 GPUs"),
		checktest.When("other sizes are another job", checktest.Set(KindRun, ".runs[1].minBytes", 16777216)).Fails(launcher, "repetition 2 ran sizes 16777216"),
		checktest.When("a smaller largest size is another job", checktest.Set(KindRun, ".runs[1].maxBytes", 8589934592)).Fails(launcher, "repetition 2 ran sizes"),
		checktest.When("an error in the log is a failure", checktest.Set(KindRun, ".runs[2].errors", []string{"unhandled system error"})).Fails(launcher, "repetition 3: unhandled system error"),
		checktest.When("a log that was cut off hides channels", checktest.Set(KindRun, ".nccl.clipped", true)).Unobserved(launcher, "exceeds the size limit"),
		checktest.When("a job that failed for no known reason failed", checktest.Set(KindRun, ".outcome.succeeded", false), checktest.Set(KindRun, ".outcome.pods[2].exitCode", 1)).Fails(launcher, "exit code 1"),
		checktest.When("a log without a table, of a job that succeeded, shows nothing", checktest.Set(KindRun, ".runs", nil), checktest.Set(KindRun, ".logProblem", "EOF")).Unobserved(launcher, "no table of results: EOF"),
		checktest.When("a hang is of the node with a rank that never finished initialising", checktest.Set(KindRun, ".outcome.ended", gangjob.EndedTimeout),
			checktest.Set(KindRun, ".nccl.ranks[*].inits", 1), checktest.Set(KindRun, ".nccl.ranks[8].inits", 0)).Fails("gpu-02", "the collective hangs"),
		checktest.When("a log without a table, of a job that failed, says why", checktest.Set(KindRun, ".runs", nil), checktest.Set(KindRun, ".outcome.succeeded", false),
			checktest.Set(KindRun, ".logTail", []string{"mpirun: not found"})).Fails(launcher, "mpirun: not found"),
	})
}

// After each round the next one is what the pairs so far leave open.
func TestNextRounds(t *testing.T) {
	t.Parallel()
	g := testGate(t, testSite())
	_, fast := observeAndJudge(t, g, cluster{})
	all, err := check.Decode[Figures](fast[0])
	if err != nil {
		t.Fatal(err)
	}
	tried := func(nodes []string, bus float64) Figures {
		f := all
		f.Nodes, f.Outcome = nodes, gangjob.Outcome{Ended: gangjob.EndedDone, Succeeded: true}
		f.Runs = nil
		for _, run := range all.Runs {
			rows := make([]nccl.Row, 0, len(run.Rows))
			for _, row := range run.Rows {
				s := nccl.Side{TimeUS: 1, AlgBW: bus, BusBW: bus, Wrong: new(int64(0))}
				rows = append(rows, nccl.Row{Bytes: row.Bytes, OutOfPlace: &s, InPlace: &s})
			}
			run.Rows = rows
			f.Runs = append(f.Runs, run)
		}
		return f
	}
	const good, bad = 480, 100
	pair := func(a, b string, bus float64) Figures { return tried([]string{a, b}, bus) }
	for name, tt := range map[string]struct {
		nodes []string
		tried []Figures
		want  string
	}{
		"the first round":          {every(), nil, "[[gpu-01 gpu-04] [gpu-02 gpu-03]]"},
		"a bad pair meets cleared": {every(), []Figures{pair("gpu-01", "gpu-04", bad), pair("gpu-02", "gpu-03", good)}, "[[gpu-01 gpu-02] [gpu-03 gpu-04]]"},
		"one is guilty": {every(), []Figures{
			pair("gpu-01", "gpu-04", bad), pair("gpu-02", "gpu-03", good), pair("gpu-01", "gpu-02", bad), pair("gpu-03", "gpu-04", good),
		}, "[]"},
		"two nodes were the pair":       {every()[:2], nil, "[[gpu-01] [gpu-02]]"},
		"one of two nodes by itself":    {every()[:2], []Figures{tried([]string{"gpu-01"}, good)}, "[[gpu-02]]"},
		"a round of one pair":           {every()[:3], nil, "[[gpu-02 gpu-03]]"},
		"the second round of bad pairs": {every(), []Figures{pair("gpu-01", "gpu-04", bad), pair("gpu-02", "gpu-03", bad)}, "[[gpu-01 gpu-03] [gpu-02 gpu-04]]"},
	} {
		if got := fmt.Sprint(g.next(Figures{Nodes: tt.nodes}, tt.tried)); got != tt.want {
			t.Errorf("%s: %s, want %s", name, got, tt.want)
		}
	}
}

// A largest size below the profile's is named; the profile's own, or a larger one, is not.
func TestALoweredSizeIsNamed(t *testing.T) {
	t.Parallel()
	g := testGate(t, testSite())
	g.profile.Collective.MaxBytes, g.site.Workloads.Collective.MaxBytes = "a lot", "16G"
	if got := g.Lowered(); len(got) != 1 {
		t.Errorf("an invalid size of the profile: %v", got)
	}
	for size, lowered := range map[string]bool{"": false, "16G": false, "32G": false, "8G": true, "a lot": true} {
		g := testGate(t, testSite())
		g.profile.Collective.MaxBytes = "16G"
		g.site.Workloads.Collective.MaxBytes = size
		if got := g.Lowered(); (len(got) == 1) != lowered {
			t.Errorf("%q: %v", size, got)
		}
	}
}

// An error that the program prints may have its cause in a node: pairs are run.
func TestAnErrorOfTheProgramIsLocalised(t *testing.T) {
	t.Parallel()
	g := testGate(t, testSite())
	_, obs := observeAndJudge(t, g, cluster{})
	f, err := check.Decode[Figures](obs[0])
	if err != nil {
		t.Fatal(err)
	}
	if g.needsLocalising(f) {
		t.Error("a healthy run is localised")
	}
	f.Runs[0].Errors = []string{"Test NCCL failure: unhandled system error"}
	if !g.needsLocalising(f) {
		t.Error("an error is not localised")
	}
}

// TCP has no GPUDirect: a node that fell back to it has one cause, not two.
func TestANodeOnSocketsIsNotBlamedForGPUDirect(t *testing.T) {
	t.Parallel()
	g := testGate(t, testSite())
	j, _ := observeAndJudge(t, g, cluster{tcp: set("gpu-02")})
	for _, f := range j.Findings {
		if f.Suspect == "gpu-02" && strings.Contains(f.Message, "GDR 0") {
			t.Errorf("%s: %+v", j.Verdict, j.Findings)
		}
	}
	if j.Verdict != check.Failed {
		t.Errorf("%s: %s", j.Verdict, j.Reason)
	}
}

func TestAnOutlierHasOneFinding(t *testing.T) {
	t.Parallel()
	j, _ := observeAndJudge(t, testGate(t, testSite()), cluster{factor: 0.9, slow: map[string]float64{"gpu-02": 0.6}})
	n := 0
	for _, f := range j.Findings {
		if f.Suspect == "gpu-02" {
			n++
		}
	}
	if n != 1 {
		t.Errorf("%d findings: %+v", n, j.Findings)
	}
}
