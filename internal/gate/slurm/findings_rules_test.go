package slurm

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/gate/slurmjob"
	probe "github.com/firstlight/firstlight/internal/probe/slurm"
	"github.com/firstlight/firstlight/internal/site"
)

// edit changes the figures of the observations of a kind.
func edit[T any](t *testing.T, obs []check.Observation, kind string, change func(*T)) {
	t.Helper()
	for i, o := range obs {
		if o.Kind != kind {
			continue
		}
		v, err := check.Decode[T](o)
		if err != nil {
			t.Fatal(err)
		}
		change(&v)
		if obs[i].Figures, err = json.Marshal(v); err != nil {
			t.Fatal(err)
		}
	}
}

// said are the findings of a judgement, without those notes that a pass has.
func said(j check.Judgement) []string {
	out := []string{string(j.Verdict)}
	for _, f := range j.Findings {
		out = append(out, f.Suspect+": "+f.Message)
	}
	return out
}

// A suspect has one finding: a state with several flags that keep a node from jobs is named once, the
// first with its remedy, and what follows from a defect is not judged.
func TestFindingsOfTheStack(t *testing.T) {
	t.Parallel()
	nodes := func(kind string, change func(n []probe.Node)) func(*testing.T, []check.Observation) {
		return func(t *testing.T, obs []check.Observation) {
			t.Helper()
			edit(t, obs, kind, func(f *nodeFigures) { change(f.Nodes) })
		}
	}
	state := func(state string, flags ...string) func(*testing.T, []check.Observation) {
		return nodes(kindNodes, func(n []probe.Node) { n[1].State, n[1].Flags, n[1].Reason = state, flags, "a fan" })
	}
	without := func(kinds ...string) func([]check.Observation) []check.Observation {
		return func(obs []check.Observation) []check.Observation {
			return slices.DeleteFunc(obs, func(o check.Observation) bool { return slices.Contains(kinds, o.Kind) })
		}
	}
	controllers := func(up ...bool) func(*testing.T, []check.Observation) {
		return func(t *testing.T, obs []check.Observation) {
			t.Helper()
			edit(t, obs, kindPing, func(all *[]probe.Controller) {
				*all = nil
				for i, is := range up {
					*all = append(*all, probe.Controller{Host: "c" + string(rune('1'+i)), Role: "primary", Up: is})
				}
			})
			edit(t, obs, kindConfig, func(c *probe.Config) { c.Prolog = nil })
		}
	}
	const noProlog = "slurm.conf Prolog: no Prolog is configured: nothing checks a node before a job"
	for name, tt := range map[string]struct {
		reservation string
		spoil       func(*testing.T, []check.Observation)
		leave       func([]check.Observation) []check.Observation
		want        []string
	}{
		"two flags":                     {"", state("IDLE", "DRAIN", "NOT_RESPONDING"), nil, []string{"failed", "gpu-02: gpu-02 is IDLE+DRAIN+NOT_RESPONDING, want IDLE: a fan"}},
		"a flag and a state":            {"", state("DOWN", "DRAIN"), nil, []string{"failed", "gpu-02: gpu-02 is DOWN+DRAIN, want IDLE: a fan"}},
		"a flag after a harmless one":   {"", state("IDLE", "CLOUD", "FAIL"), nil, []string{"failed", "gpu-02: gpu-02 is IDLE+CLOUD+FAIL, want IDLE: a fan"}},
		"an error":                      {"", state("ERROR"), nil, []string{"failed", "gpu-02: gpu-02 is ERROR, want IDLE: a fan"}},
		"a future node":                 {"", state("FUTURE"), nil, []string{"failed", "gpu-02: gpu-02 is FUTURE, want IDLE: a fan"}},
		"reserved":                      {"", state("RESERVED"), nil, []string{"unobserved", "gpu-02: gpu-02 is RESERVED, want IDLE: a fan"}},
		"reserved for the site":         {"x", state("RESERVED"), nil, []string{"passed"}},
		"in maintenance of the site":    {"x", state("IDLE", "MAINTENANCE"), nil, []string{"passed"}},
		"in maintenance":                {"", state("IDLE", "MAINTENANCE"), nil, []string{"unobserved", "gpu-02: gpu-02 is IDLE+MAINTENANCE: it is reserved"}},
		"unknown, with a reservation":   {"x", state("PERHAPS"), nil, []string{"unobserved", "gpu-02: gpu-02 is PERHAPS, want IDLE: a fan"}},
		"GPUs of another type, as well": {"", nodes(kindNodes, func(n []probe.Node) { n[0].Gres = append(n[0].Gres, probe.Gres{Name: "gpu", Type: "a100", Count: 1}) }), nil, []string{"failed", "gpu-01: gpu-01 has the generic resources gpu:h100:8,gpu:a100:1, want gpu:h100:8"}},
		"two defects of a node":         {"", nodes(kindNodes, func(n []probe.Node) { n[0].Gres, n[0].Partitions = nil, nil }), nil, []string{"failed", "gpu-01: gpu-01 has the generic resources none, want gpu:h100:8; gpu-01 is in no partition, not in partition batch"}},
		"a drained node, no job":        {"", state("IDLE", "DRAIN"), without(kindJob, kindAfter), []string{"failed", "gpu-02: gpu-02 is IDLE+DRAIN, want IDLE: a fan"}},
		"no slurmctld observed":         {"", nil, without(kindPing), []string{"unobserved", "slurmctld: was not observed"}},
		"no slurmctld answers":          {"", controllers(false), without(kindJob, kindAfter), []string{"failed", "slurmctld c1: slurmctld (primary) on c1 does not answer"}},
		"the second does not answer":    {"", controllers(true, false), nil, []string{"failed", "slurmctld c2: slurmctld (primary) on c2 does not answer", noProlog}},
		"the first does not answer":     {"", controllers(false, true), nil, []string{"failed", "slurmctld c1: slurmctld (primary) on c1 does not answer", noProlog}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g, obs, _ := stack(t, nil)
			g.site.Slurm.Reservation = tt.reservation
			if tt.spoil != nil {
				tt.spoil(t, obs)
			}
			if tt.leave != nil {
				obs = tt.leave(obs)
			}
			j := judgeOf(g)(obs)
			if diff := cmp.Diff(tt.want, said(j)); diff != "" {
				t.Error(diff)
			}
			for _, f := range j.Findings {
				if strings.Contains(f.Remedy, "=NODE") || strings.Contains(f.Message, "DRAIN") && !strings.Contains(f.Remedy, "NodeName=gpu-02") {
					t.Errorf("the remedy of %s does not name it: %s", f.Suspect, f.Remedy)
				}
			}
		})
	}
}

// The record of a job is judged only if the job ran, and a message of sacct that succeeded fails nothing.
func TestFindingsOfTheRecord(t *testing.T) {
	t.Parallel()
	without := func(kind string) func(*testing.T, []check.Observation) []check.Observation {
		return func(_ *testing.T, obs []check.Observation) []check.Observation {
			return slices.DeleteFunc(obs, func(o check.Observation) bool { return o.Kind == kind })
		}
	}
	record := func(change func(*slurmjob.Record)) func(*testing.T, []check.Observation) []check.Observation {
		return func(t *testing.T, obs []check.Observation) []check.Observation {
			t.Helper()
			edit(t, obs, kindRecord, change)
			return obs
		}
	}
	for name, tt := range map[string]struct {
		spoil func(*testing.T, []check.Observation) []check.Observation
		want  []string
	}{
		"no job":    {without(kindJob), []string{"unobserved", "job: was not observed"}},
		"no record": {without(kindRecord), []string{"unobserved", "record of the job: was not observed"}},
		"a job without ID": {func(t *testing.T, obs []check.Observation) []check.Observation {
			t.Helper()
			edit(t, obs, kindJob, func(f *jobFigures) { f.Job = "" })
			return obs
		}, []string{"unobserved", "job firstlight-telemetry-r1: the job of which a record is expected did not run (exit code 0): "}},
		"a message":       {record(func(f *slurmjob.Record) { f.Problem = "slurmdbd: a warning" }), []string{"passed"}},
		"late, no record": {record(func(f *slurmjob.Record) { f.WaitedSeconds, f.Records = 90, nil }), []string{"failed", "slurmdbd: no record of job 1 firstlight-telemetry-r1 after 1m30s"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g, obs, _ := accounting(t, nil)
			if diff := cmp.Diff(tt.want, said(judgeOf(g)(tt.spoil(t, obs)))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// The figures are the nodes that ran the job, and the GPUs in its record.
func TestFiguresOfSlurm(t *testing.T) {
	t.Parallel()
	value := func(j check.Judgement, name string) float64 {
		i := slices.IndexFunc(j.Figures, func(f check.Figure) bool { return f.Name == name })
		if i < 0 {
			return -1
		}
		return j.Figures[i].Value
	}
	g, obs, _ := stack(t, nil)
	if n := value(judgeOf(g)(obs), "nodes that ran the job"); n != 3 {
		t.Errorf("%g nodes ran the job, want 3", n)
	}
	edit(t, obs, kindJob, func(f *jobFigures) { f.Tasks = f.Tasks[:1] })
	if n := value(judgeOf(g)(obs), "nodes that ran the job"); n != 1 {
		t.Errorf("%g nodes ran the job, want 1", n)
	}
	a, records, _ := accounting(t, nil)
	if n := value(judgeOf(a)(records), "GPUs in the record"); n != 24 {
		t.Errorf("%g GPUs in the record, want 24", n)
	}
	edit(t, records, kindRecord, func(f *slurmjob.Record) { f.Records[0].GPUs = 7 })
	if n := value(judgeOf(a)(records), "GPUs in the record"); n != 7 {
		t.Errorf("%g GPUs in the record, want 7", n)
	}
}

// A pass names what a job ran through, and the type of GPUs where the site has one.
func TestReasonsOfAPass(t *testing.T) {
	t.Parallel()
	const head = "Slurm 22.05.8: 3 nodes idle in partition batch, 8 GPUs each; a job ran on all of them"
	for part, want := range map[string]string{site.WithoutProlog: head + " through epilog", site.WithoutEpilog: head + " through prolog"} {
		g, obs, _ := stack(t, func(s *site.Site, _ *login) { s.Slurm.Without, s.Slurm.GPUType = []string{part}, "" })
		if j := judgeOf(g)(obs); j.Verdict != check.Passed || j.Reason != want {
			t.Errorf("%s: %s", j.Verdict, j.Reason)
		}
	}
}
