package drift

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/checktest"
	"github.com/firstlight/firstlight/internal/evidence"
	"github.com/firstlight/firstlight/internal/evidence/evidencetest"
	"github.com/firstlight/firstlight/internal/gate/collective"
	"github.com/firstlight/firstlight/internal/gate/inference"
	"github.com/firstlight/firstlight/internal/gate/node"
	"github.com/firstlight/firstlight/internal/gate/training"
	"github.com/firstlight/firstlight/internal/plan"
	probenccl "github.com/firstlight/firstlight/internal/probe/nccl"
	"github.com/firstlight/firstlight/internal/probe/nvidia"
	"github.com/firstlight/firstlight/internal/profile"
	"github.com/firstlight/firstlight/internal/site"
)

// recorded is a gate with observations and a judgement.
type recorded struct {
	name string
	obs  []check.Observation
	check.Judgement
}

func (r recorded) Name() string                              { return r.name }
func (r recorded) Judge([]check.Observation) check.Judgement { return r.Judgement }
func (r recorded) Observe(_ context.Context, rec check.Recorder) error {
	for _, o := range r.obs {
		if _, err := rec.Record(o); err != nil {
			return err
		}
	}
	return nil
}

const busBW = "all_reduce busbw of 4 nodes up to 1073741824 bytes"

// acceptedRun is the evidence of a run with gates node, collective, training and inference.
func acceptedRun(t *testing.T, change func(*evidence.Start, []recorded)) *evidence.Bundle {
	t.Helper()
	one := func(kind, target string, figures any) []check.Observation {
		seen := &checktest.Observed{T: t}
		seen.Add(kind, target, true, figures)
		for i := range seen.List {
			seen.List[i].ID, seen.List[i].Check = "", ""
		}
		return seen.List
	}
	side := &probenccl.Side{BusBW: 366}
	gates := []recorded{
		{node.Name, one(kindSMI, "gpu-01", smiSeen{&nvidia.SMILog{Driver: "580.1"}}), check.Pass("fine")},
		{collective.Name, one(collective.KindRun, "all", collective.Figures{
			Scope: collective.ScopeAll, Nodes: []string{"gpu-01", "gpu-02", "gpu-03", "gpu-04"}, MaxBytes: 1 << 30, NCCL: probenccl.Log{Versions: []string{"2.28.7"}},
			Runs: []probenccl.Run{{Rows: []probenccl.Row{{Bytes: 1 << 30, OutOfPlace: side, InPlace: side}}}},
		}), check.Pass("fine", check.Figure{Name: "busbw", Value: 366, Unit: "GB/s", Limit: 355, Relation: ">="})},
		{training.Name, one("probe", "job", map[string]bool{"seen": true}), check.Pass("fine")},
		{inference.Name, one(inference.KindLoad, "server", inference.LoadFigures{Requests: []inference.Request{{TTFT: new(30.0), TPOT: new(3.0)}, {Error: "no answer"}}}), check.Pass("fine")},
	}
	raw, err := profile.Raw("h100-sxm-ndr400")
	if err != nil {
		t.Fatal(err)
	}
	start := evidencetest.Start(plan.Plan{})
	start.Site, start.Profile, start.Recipe = site.Example(), raw, nil
	start.Header.Command, start.Header.Simulated = []string{"firstlight", "accept"}, evidence.HardwareReal
	change(&start, gates)
	start.Plan.Name = "playbook"
	for _, g := range gates {
		start.Plan.Steps = append(start.Plan.Steps, plan.Step{Check: g})
	}
	clock := evidencetest.Clock()
	run, err := evidence.Create(t.TempDir(), start, evidence.Options{Clock: clock})
	if err != nil {
		t.Fatal(err)
	}
	executor := plan.Executor{Plan: start.Plan, Store: run, Clock: clock, Only: start.Header.Only, Capacity: func(context.Context) (int, error) { return 8, nil }}
	out, err := executor.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := run.Finish(out, nil); err != nil {
		t.Fatal(err)
	}
	b, err := evidence.Load(run.Dir())
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func unchanged(*evidence.Start, []recorded) {}

// A baseline has the run that it is of, what its figures are valid for, and the figures.
func TestABaselineIsThatOfItsRun(t *testing.T) {
	t.Parallel()
	b := acceptedRun(t, unchanged)
	got, err := Of(b)
	if err != nil {
		t.Fatal(err)
	}
	m, err := evidence.Stored(b.Dir)
	if err != nil {
		t.Fatal(err)
	}
	if got.Run != b.Header.Run || got.Manifest != m.Digest || got.Cluster != evidencetest.Cluster || got.Simulated != evidence.HardwareReal || !got.Accepted.Equal(b.Header.Created) {
		t.Errorf("%+v", got)
	}
	if fmt.Sprint(got.Stack["driver"], got.Stack[nccl]) != "[580.1] [2.28.7]" || len(got.Stack["profile"]) != 1 {
		t.Errorf("the stack is %v", got.Stack)
	}
	want := []Figure{
		{Gate: collective.Name, Name: busBW, Unit: "GB/s", HigherIsBetter: true, Values: got.Figures[0].Values},
		{Gate: collective.Name, Name: "all_reduce busbw of 4 nodes at 1073741824 bytes", Unit: "GB/s", HigherIsBetter: true, Bytes: 1 << 30, Values: []float64{366}},
		{Gate: inference.Name, Name: "TTFT", Unit: "ms", Values: []float64{30}},
		{Gate: inference.Name, Name: "TPOT", Unit: "ms", Values: []float64{3}},
		{Gate: inference.Name, Name: "goodput (TTFT 500 ms, TPOT 50 ms)", Unit: "fraction", HigherIsBetter: true, Requests: 2, Values: []float64{0.5}},
	}
	if diff := cmp.Diff(want, got.Figures); diff != "" || !slices.Contains(want[0].Values, 366) {
		t.Errorf("%s %v", diff, want[0].Values)
	}
	headlines := map[string][]check.Figure{collective.Name: {{Name: "busbw", Value: 366, Unit: "GB/s", Limit: 355, Relation: ">="}}}
	if diff := cmp.Diff(headlines, got.Headlines); diff != "" {
		t.Error(diff)
	}
	data, err := got.Encode()
	if err != nil {
		t.Fatal(err)
	}
	again, err := Parse(data)
	if err != nil || !strings.HasSuffix(string(data), "}\n") {
		t.Fatalf("%v: %s", err, data)
	}
	if diff := cmp.Diff(got, again); diff != "" {
		t.Error(diff)
	}
}

// A run without gate node has a baseline. A comparison with it was unobserved, and its remedy, to accept the
// cluster again, did not help.
func TestABaselineWithoutDriversIsNotComparable(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		change func(*evidence.Start, []recorded)
		says   string
	}{
		"with gate node":    {unchanged, ""},
		"without gate node": {func(_ *evidence.Start, gates []recorded) { gates[0].obs = gates[2].obs }, "has no driver version"},
	} {
		b, err := Of(acceptedRun(t, tt.change))
		if err != nil {
			t.Fatal(err)
		}
		if err := b.Comparable(); (err != nil) != (tt.says != "") || err != nil && !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%s: %v, want %q", name, err, tt.says)
		}
	}
}

// Only an accepted run of the whole playbook is a baseline: the figures of any other one were not
// accepted by anyone.
func TestWhatIsNoBaseline(t *testing.T) {
	t.Parallel()
	const notAccepted = "is not an accepted run"
	for name, tt := range map[string]struct {
		change func(*evidence.Start, []recorded)
		after  func(*testing.T, *evidence.Bundle)
		says   string
	}{
		"another command": {func(s *evidence.Start, _ []recorded) { s.Header.Command[1] = "drift" }, nil, notAccepted},
		"no command":      {func(s *evidence.Start, _ []recorded) { s.Header.Command = []string{"firstlight"} }, nil, notAccepted},
		"one gate":        {func(s *evidence.Start, _ []recorded) { s.Header.Only = collective.Name }, nil, notAccepted},
		"a gate alone that makes the verdict passed": {unchanged, func(_ *testing.T, b *evidence.Bundle) { b.Header.Only = collective.Name }, notAccepted},
		"failed":     {func(_ *evidence.Start, gates []recorded) { gates[3].Judgement = check.Fail("slow") }, nil, notAccepted},
		"unfinished": {unchanged, func(_ *testing.T, b *evidence.Bundle) { b.Finished = false }, notAccepted},
		"without figures to compare": {func(_ *evidence.Start, gates []recorded) {
			gates[1].obs, gates[3].obs = gates[2].obs, gates[2].obs
		}, nil, "has no figures of [collective training inference]"},
		"a site that cannot be read": {func(s *evidence.Start, _ []recorded) { s.Site = []byte("name: [") }, nil, "site of run"},
		"groups of nodes": {func(s *evidence.Start, _ []recorded) {
			s.Site = []byte(strings.Replace(string(s.Site), "\nreach:\n", "\ngroups: [{name: new, profile: h100-sxm-ndr400, nodes: [gpu-04]}]\n\nreach:\n", 1))
			s.Inputs = map[string][]byte{"profile-new.yaml": s.Profile}
		}, nil, "has groups of nodes with a profile each"},
		"a manifest that is gone": {unchanged, func(t *testing.T, b *evidence.Bundle) {
			t.Helper()
			remove(t, filepath.Join(b.Dir, evidence.ManifestFileName))
		}, "read the manifest"},
		"observations that are gone": {unchanged, func(t *testing.T, b *evidence.Bundle) {
			t.Helper()
			remove(t, filepath.Join(b.Dir, "observations"))
		}, "read the observations"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := acceptedRun(t, tt.change)
			if tt.after != nil {
				tt.after(t, b)
			}
			got, err := Of(b)
			if err == nil || !strings.Contains(err.Error(), tt.says) || got.Run != "" {
				t.Errorf("%v, want %q", err, tt.says)
			}
		})
	}
}

func remove(t *testing.T, path string) {
	t.Helper()
	if _, err := os.Stat(path); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(path); err != nil {
		t.Fatal(err)
	}
}

// A recorded baseline is one JSON document with a run and figures.
func TestWhatIsNoRecordedBaseline(t *testing.T) {
	t.Parallel()
	data, err := Baseline{Format: formatVersion, Run: "r", Figures: []Figure{{Name: "f", Values: []float64{1}}}}.Encode()
	if err != nil {
		t.Fatal(err)
	}
	empty, err := Baseline{Format: formatVersion, Run: "r"}.Encode()
	if err != nil {
		t.Fatal(err)
	}
	share := func(requests int, values ...float64) string {
		data, err := Baseline{Format: formatVersion, Run: "r", Figures: []Figure{{Name: "f", Requests: requests, Values: values}}}.Encode()
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	if _, err := Parse([]byte(share(10, 0))); err != nil {
		t.Errorf("a share of 0: %v", err)
	}
	for name, text := range map[string]string{
		"a share above 1": share(10, 1.5), "a share below 0": share(10, -0.5), "two shares": share(10, 0.5, 0.5), "a share of requests below 0": share(-1, 0.5),
		"two documents": string(data) + string(data), "a key twice": strings.Replace(string(data), `"run": "r"`, `"run": "r", "run": "q"`, 1), "no figures": string(empty),
	} {
		if b, err := Parse([]byte(text)); err == nil || b.Run != "" {
			t.Errorf("%s is accepted", name)
		}
	}
}

// A profile is known by its content: figures that changed under the same name are another profile.
func TestAProfileWithOtherFiguresIsAnotherProfile(t *testing.T) {
	t.Parallel()
	s, obs := rig(t)
	changed := *s.profile
	changed.Collective.LargestSizes.Value++
	s.profile = &changed
	checktest.Judged(t, s.Judge(obs), check.Unobserved, "profile", s.profile.Name+" sha256:")
}

// A finding of the stack names observations that were read: not those of a host that is missing.
func TestAStackFindingNamesWhatWasRead(t *testing.T) {
	t.Parallel()
	s, obs := rig(t)
	s.baseline.Stack["driver"] = []string{"570.1"}
	j := s.Judge(slices.Delete(slices.Clone(obs), 0, 1))
	i := slices.IndexFunc(j.Findings, func(f check.Finding) bool { return f.Suspect == "driver" })
	if i < 0 || len(j.Findings[i].Observations) != len(obs)-1 || slices.Contains(j.Findings[i].Observations, "") {
		t.Errorf("%+v", j.Findings)
	}
}
