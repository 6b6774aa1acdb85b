package collective

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/checktest"
	"github.com/firstlight/firstlight/internal/gate/gangjob"
	"github.com/firstlight/firstlight/internal/plan"
	"github.com/firstlight/firstlight/internal/probe/ssh"
	"github.com/firstlight/firstlight/internal/profile"
	"github.com/firstlight/firstlight/internal/site"
)

// box is a machine with the answer of nvidia-smi and the repetitions of the collective.
type box struct {
	apps    ssh.Output
	appsErr error
	repeat  func(ctx context.Context, n int) (ssh.Output, error)
	ran     []string
	runs    int
}

func (m *box) Run(ctx context.Context, _ string, argv ...string) (ssh.Output, error) {
	m.ran = append(m.ran, ssh.Quote(argv))
	if argv[0] == "nvidia-smi" {
		return m.apps, m.appsErr
	}
	m.runs++
	return m.repeat(ctx, m.runs)
}

// single is the gate of a machine, which waits for the collective for at most timeout.
func single(t *testing.T, m Hosts, timeout time.Duration) *Local {
	t.Helper()
	p, err := profile.Load("h100-sxm")
	if err != nil {
		t.Fatal(err)
	}
	s, err := site.Parse("single-node.yaml", site.SingleNodeFile("gpu-01", p))
	if err != nil {
		t.Fatal(err)
	}
	s.Workloads.Collective.Timeout = site.Duration(timeout)
	return NewLocal(s, p, m)
}

// kept records observations.
type kept struct{ obs []check.Observation }

func (k *kept) Record(o check.Observation) (check.Observation, error) {
	o.ID = fmt.Sprint(len(k.obs) + 1)
	k.obs = append(k.obs, o)
	return o, nil
}

func (*kept) Progress(string, ...any) {}

func exits(code int, stdout, stderr string) func(context.Context, int) (ssh.Output, error) {
	return func(context.Context, int) (ssh.Output, error) {
		return ssh.Output{Exit: code, Stdout: []byte(stdout), Stderr: []byte(stderr)}, nil
	}
}

// The collective of one machine runs only on GPUs that nothing else uses, ends with the first
// repetition that fails, and what did not run is never a pass.
func TestWhatAMachineDidNotRun(t *testing.T) {
	t.Parallel()
	hangs := func(ctx context.Context, _ int) (ssh.Output, error) {
		<-ctx.Done()
		return ssh.Output{}, ctx.Err()
	}
	for name, tt := range map[string]struct {
		box           box
		timeout       time.Duration
		runs          int
		verdict       check.Verdict
		suspect, says string
		ended         string
		problem       string
	}{
		"another program":             {box{apps: ssh.Output{Stdout: []byte("\n 4021, python3, 60000 MiB \n")}}, time.Minute, 0, check.Unobserved, "gpu-01", "the collective was not run: 4021, python3, 60000 MiB", "", ""},
		"no nvidia-smi":               {box{apps: ssh.Output{Exit: 127, Stderr: []byte("not found")}}, time.Minute, 0, check.Unobserved, "gpu-01", "nvidia-smi exited 127", "", ""},
		"an unreachable host":         {box{appsErr: errors.New("no route")}, time.Minute, 0, check.Unobserved, "gpu-01", "no route", "", ""},
		"no program":                  {box{repeat: exits(127, "", "env: 'all_reduce_perf': No such file")}, time.Minute, 1, check.Unobserved, "all_reduce_perf", "all_reduce_perf not found", gangjob.EndedNotRun, "all_reduce_perf not found"},
		"a host that is gone":         {box{repeat: func(context.Context, int) (ssh.Output, error) { return ssh.Output{}, errors.New("no route") }}, time.Minute, 1, check.Unobserved, "all_reduce_perf", "no route", gangjob.EndedNotRun, "no route"},
		"a program that fails":        {box{repeat: exits(3, "", "Test NCCL failure")}, time.Minute, 1, check.Failed, "", "", gangjob.EndedDone, "exited with code 3"},
		"a program that hangs":        {box{repeat: hangs}, time.Millisecond, 1, check.Failed, "gpu-01", "hangs", gangjob.EndedTimeout, "still ran after 1ms"},
		"a program that says nothing": {box{repeat: exits(0, "", "")}, time.Minute, 3, check.Unobserved, "job collective", "no table of results", gangjob.EndedDone, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := tt.box
			l, rec := single(t, &m, tt.timeout), &kept{}
			if err := l.Observe(t.Context(), rec); err != nil {
				t.Fatal(err)
			}
			if m.runs != tt.runs {
				t.Errorf("%d repetitions, want %d: %q", m.runs, tt.runs, m.ran)
			}
			j := plan.Judge(l, rec.obs)
			if j.Verdict != tt.verdict || len(j.Findings) == 0 {
				t.Fatalf("%s: %+v", j.Verdict, j.Findings)
			}
			if tt.suspect != "" {
				checktest.Judged(t, j, tt.verdict, tt.suspect, tt.says)
			}
			run := check.OfKind(rec.obs, KindRun)
			if len(run) != min(tt.runs, 1) {
				t.Fatalf("%d observations of a run", len(run))
			}
			if len(run) == 0 {
				return
			}
			f, err := check.Decode[Figures](check.Observation{Figures: run[0].Figures})
			if err != nil || f.Outcome.Ended != tt.ended || !strings.Contains(f.Outcome.Problem, tt.problem) || f.Outcome.Succeeded != (tt.problem == "") {
				t.Errorf("%+v, %v", f.Outcome, err)
			}
		})
	}
}

// A run that the user ends is not an observation of the machine.
func TestAnInterruptedRunIsNotObserved(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	m := &box{repeat: func(context.Context, int) (ssh.Output, error) {
		cancel()
		return ssh.Output{}, context.Canceled
	}}
	l, rec := single(t, m, time.Minute), &kept{}
	if err := l.Observe(ctx, rec); !errors.Is(err, context.Canceled) || len(check.OfKind(rec.obs, KindRun)) > 0 {
		t.Errorf("%v, %+v", err, rec.obs)
	}
	if err := single(t, nil, time.Minute).Observe(t.Context(), rec); err == nil || !strings.Contains(err.Error(), "hosts must be set") {
		t.Errorf("without hosts: %v", err)
	}
}

// A machine is asked for its programs first, then each repetition runs one process with all GPUs.
func TestTheCommandsOfAMachine(t *testing.T) {
	t.Parallel()
	m := &box{repeat: exits(0, "", "")}
	l, rec := single(t, m, time.Minute), &kept{}
	if err := l.Observe(t.Context(), rec); err != nil {
		t.Fatal(err)
	}
	const run = "env NCCL_DEBUG=INFO all_reduce_perf -b 8M -e 16G -f 2 -g 8"
	if want := []string{"nvidia-smi --query-compute-apps=pid,process_name,used_memory --format=csv,noheader", run, run, run}; !slices.Equal(m.ran, want) {
		t.Errorf("%q, want %q", m.ran, want)
	}
	if l.Claims() != 8 || l.Name() != Name {
		t.Errorf("%s claims %d GPUs", l.Name(), l.Claims())
	}
}
