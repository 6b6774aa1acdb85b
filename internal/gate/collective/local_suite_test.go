package collective

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/plan"
	"github.com/firstlight/firstlight/internal/probe/ssh"
	"github.com/firstlight/firstlight/internal/profile"
)

// whole is a machine on which each program runs as answer says; nil: healthily.
func whole(answer func(program string) *ssh.Output) *box {
	m := &box{apps: ssh.Output{Stdout: []byte("\n"), Origin: "here"}}
	m.repeat = func(_ context.Context, n int) (ssh.Output, error) {
		program := strings.Fields(m.ran[len(m.ran)-1])[2]
		if answer != nil {
			if out := answer(program); out != nil {
				return *out, nil
			}
		}
		var b strings.Builder
		cluster{test: program}.run(&b, "collective", []string{"gpu-01"}, n, true)
		return ssh.Output{Stdout: []byte(strings.ReplaceAll(b.String(), "collective-0", "gpu-01")), Stderr: []byte("a warning\n"), Origin: "here"}, nil
	}
	return m
}

// of is the gate of such a machine, which also runs the all-gather.
func of(t *testing.T, m *box) *Local {
	t.Helper()
	l := single(t, m, time.Minute)
	l.gate.site.Workloads.Collective.Suite = []string{profile.AllGather}
	return l
}

// programs are those that a machine ran, without nvidia-smi.
func (m *box) programs() []string {
	var out []string
	for _, line := range m.ran[1:] {
		out = append(out, strings.Fields(line)[2])
	}
	return out
}

// fails keeps observations until the n-th, which it cannot store.
type fails struct {
	kept
	n        int
	progress []string
}

func (f *fails) Record(o check.Observation) (check.Observation, error) {
	if len(f.obs)+1 == f.n {
		return o, errors.New("disk full")
	}
	return f.kept.Record(o)
}

func (f *fails) Progress(format string, args ...any) {
	f.progress = append(f.progress, fmt.Sprintf(format, args...))
}

// The collectives of a machine run one after the other, each with its repetitions; none runs after one that
// failed or did not run, or whose observation could not be stored.
func TestACollectiveOfAMachineRunsAfterOneThatSucceeded(t *testing.T) {
	t.Parallel()
	const reduce, gather = "all_reduce_perf", "all_gather_perf"
	only := func(name string, out ssh.Output) func(string) *ssh.Output {
		return func(program string) *ssh.Output {
			if program != name {
				return nil
			}
			return &out
		}
	}
	for name, tt := range map[string]struct {
		answer   func(string) *ssh.Output
		unstored int // the observation that cannot be stored
		ran      []string
		verdict  check.Verdict
		suspect  string
		err      string
	}{
		"healthy":                   {nil, 0, []string{reduce, reduce, reduce, gather, gather, gather}, check.Passed, "", ""},
		"the first fails":           {only(reduce, ssh.Output{Exit: 1}), 0, []string{reduce}, check.Failed, "job collective", ""},
		"the first is missing":      {only(reduce, ssh.Output{Exit: 127}), 0, []string{reduce}, check.Unobserved, reduce, ""},
		"the second is missing":     {only(gather, ssh.Output{Exit: 127}), 0, []string{reduce, reduce, reduce, gather}, check.Unobserved, gather, ""},
		"the GPUs are not stored":   {nil, 1, nil, check.Unobserved, "", "disk full"},
		"the first is not stored":   {nil, 2, []string{reduce, reduce, reduce}, check.Unobserved, "", "disk full"},
		"the second is not stored":  {nil, 3, []string{reduce, reduce, reduce, gather, gather, gather}, check.Unobserved, "", "disk full"},
		"a machine without a shell": {only(reduce, ssh.Output{Exit: 126, Stderr: []byte("denied")}), 0, []string{reduce}, check.Failed, "job collective", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m, rec := whole(tt.answer), &fails{n: tt.unstored}
			l := of(t, m)
			err := l.Observe(t.Context(), rec)
			if (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) {
				t.Errorf("%v, want %q", err, tt.err)
			}
			if diff := cmp.Diff(tt.ran, m.programs()); diff != "" {
				t.Error(diff)
			}
			j := plan.Judge(l, rec.obs)
			if j.Verdict != tt.verdict || tt.suspect != "" && !slices.ContainsFunc(j.Findings, func(f check.Finding) bool { return f.Suspect == tt.suspect }) {
				t.Errorf("%s: %s: %+v", j.Verdict, j.Reason, j.Findings)
			}
		})
	}
}

// The output of a machine, of both streams, is stored with its exit code and its place; progress names each collective.
func TestTheEvidenceOfAMachine(t *testing.T) {
	t.Parallel()
	m, rec := whole(nil), &fails{}
	l := of(t, m)
	if err := l.Observe(t.Context(), rec); err != nil {
		t.Fatal(err)
	}
	if want := []string{"all-reduce over 8 GPUs, 3 repetitions", "all-gather over 8 GPUs, 3 repetitions"}; !slices.Equal(rec.progress, want) {
		t.Errorf("%q, want %q", rec.progress, want)
	}
	if len(rec.obs) != 3 {
		t.Fatalf("%d observations", len(rec.obs))
	}
	for i, o := range rec.obs {
		if o.Exit == nil || *o.Exit != 0 || o.Origin != "here" || o.Command == "" {
			t.Errorf("%s: exit %v, origin %q, command %q", o.Target, o.Exit, o.Origin, o.Command)
		}
		text := string(o.Raw)
		switch {
		case i == 0 && text != "\n":
			t.Errorf("%q of nvidia-smi", text)
		case i > 0 && (strings.Count(text, "Collective test concluded") != 3 || strings.Count(text, "a warning\n") != 3):
			t.Errorf("%s has %d tables and %d lines of stderr", o.Target, strings.Count(text, "Collective test concluded"), strings.Count(text, "a warning\n"))
		}
	}
	if got := l.Charts(rec.obs); len(got) != 2 || cmp.Diff(l.gate.Charts(rec.obs), got) != "" {
		t.Errorf("%d charts", len(got))
	}
	l.gate.site.Workloads.Collective.MaxBytes = "8G"
	if got := l.Lowered(); len(got) != 1 || !strings.Contains(got[0], "maxBytes is 8G") {
		t.Errorf("lowered: %q", got)
	}
	l.gate.site.Workloads.Collective.MaxBytes = "a lot"
	if err := l.Observe(t.Context(), &kept{}); err == nil || !strings.Contains(err.Error(), "maxBytes") {
		t.Errorf("an invalid size: %v", err)
	}

	failing := whole(func(string) *ssh.Output { return &ssh.Output{Exit: 3, Stderr: []byte("Test NCCL failure")} })
	stored := &kept{}
	if err := of(t, failing).Observe(t.Context(), stored); err != nil {
		t.Fatal(err)
	}
	if o := stored.obs[1]; o.Exit == nil || *o.Exit != 3 || string(o.Raw) != "Test NCCL failure" {
		t.Errorf("a program that fails: exit %v, %q", o.Exit, o.Raw)
	}
	away, lost := &box{apps: ssh.Output{Exit: 255, Stdout: []byte("half a line")}, appsErr: errors.New("no route")}, &kept{}
	if err := of(t, away).Observe(t.Context(), lost); err != nil || len(lost.obs) != 1 || lost.obs[0].Err != "no route" || string(lost.obs[0].Raw) != "half a line" {
		t.Errorf("a host that is gone: %v %+v", err, lost.obs)
	}
}

// A run without a table of results is one finding, also without a line of NCCL.
func TestARunWithoutATableIsOneFinding(t *testing.T) {
	t.Parallel()
	m, rec := &box{repeat: exits(0, "", "")}, &kept{}
	l := single(t, m, time.Minute)
	if err := l.Observe(t.Context(), rec); err != nil {
		t.Fatal(err)
	}
	if j := plan.Judge(l, rec.obs); j.Verdict != check.Unobserved || len(j.Findings) != 1 || !strings.Contains(j.Findings[0].Message, "no table of results") {
		t.Errorf("%s: %+v", j.Verdict, j.Findings)
	}
}

// A failure that names no part is of the machine, of the rail, of the collective or of the cluster.
func TestTheSuspectWithoutAPart(t *testing.T) {
	t.Parallel()
	one, many := of(t, whole(nil)).gate, testGate(t, testSite())
	for name, tt := range map[string]struct {
		gate *Gate
		f    Figures
		want string
	}{
		"a machine":                     {one, Figures{Nodes: []string{"gpu-01"}}, "gpu-01"},
		"a collective of a machine":     {one, Figures{Nodes: []string{"gpu-01"}, Collective: profile.AllGather}, "gpu-01"},
		"two nodes in its evidence":     {one, Figures{Nodes: []string{"gpu-01", "gpu-02"}}, "cluster"},
		"one node of a cluster":         {many, Figures{Nodes: []string{"gpu-01"}}, "cluster"},
		"a cluster":                     {many, Figures{Nodes: every()}, "cluster"},
		"a rail":                        {many, Figures{Nodes: every(), Rail: "mlx5_1"}, "mlx5_1"},
		"a collective":                  {many, Figures{Nodes: every(), Collective: profile.AllGather}, "cluster (all-gather)"},
		"a collective over a rail also": {many, Figures{Nodes: every(), Collective: profile.AllGather, Rail: "mlx5_1"}, "mlx5_1"},
	} {
		r := review{gate: tt.gate, f: tt.f}
		if got := r.everything(); got != tt.want {
			t.Errorf("%s: %s, want %s", name, got, tt.want)
		}
	}
}
