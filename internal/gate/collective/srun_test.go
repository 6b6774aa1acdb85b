package collective

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	testingclock "k8s.io/utils/clock/testing"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/gate/gangjob"
	"github.com/firstlight/firstlight/internal/plan"
	"github.com/firstlight/firstlight/internal/probe/slurm"
	"github.com/firstlight/firstlight/internal/probe/ssh"
	"github.com/firstlight/firstlight/internal/profile"
	"github.com/firstlight/firstlight/internal/site"
)

type srunHost struct {
	out ssh.Output
	err error
	ran []string
	// nodes is the output of scontrol show nodes; empty: gpu-01 is idle.
	nodes string
	// queue is the output of squeue about the job.
	queue string
}

func (h *srunHost) Run(_ context.Context, _ string, argv ...string) (ssh.Output, error) {
	if argv[0] == "scontrol" {
		return ssh.Output{Stdout: []byte(cmp.Or(h.nodes, "NodeName=gpu-01 Gres=gpu:h100:8 State=IDLE Partitions=batch\n"))}, nil
	}
	if argv[0] == "squeue" {
		return ssh.Output{Stdout: []byte(h.queue)}, nil
	}
	h.ran = append(h.ran, ssh.Quote(argv))
	return h.out, h.err
}

func srunGate(t *testing.T, h Hosts) *Srun {
	t.Helper()
	s, err := site.Parse("slurm.yaml", site.SlurmExample())
	if err != nil {
		t.Fatal(err)
	}
	p, err := profile.Load(s.Profile)
	if err != nil {
		t.Fatal(err)
	}
	return NewSrun(s, p, h, "r1")
}

// A job of srun that did not start is not observed; a failed task is a failure.
func TestSrunOutcome(t *testing.T) {
	t.Parallel()
	pyxis, err := os.ReadFile("../slurmjob/testdata/pyxis-not-started.txt") // of NVIDIA/pyxis issue 61
	if err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		out     ssh.Output
		err     error
		ended   string
		problem string
	}{
		"refused":        {ssh.Output{Exit: 1, Stderr: []byte("srun: error: Unable to allocate resources: Requested nodes are busy\n")}, nil, gangjob.EndedNotRun, "did not start: srun: error"},
		"prolog":         {ssh.Output{Exit: 1, Stderr: []byte("srun: Prolog failure on node gpu-02\n")}, nil, gangjob.EndedNotRun, "Prolog failure on node gpu-02"},
		"no such option": {ssh.Output{Exit: 1, Stderr: []byte("srun: unrecognized option '--container-image=x'\n")}, nil, gangjob.EndedNotRun, "unrecognized option"},
		"no container": {ssh.Output{Exit: 1, Stderr: slices.Concat([]byte("pyxis: importing docker image ...\n"), pyxis)}, nil,
			gangjob.EndedNotRun, "a container was not started: slurmstepd: error: pyxis: container start failed with error code: 1 | slurmstepd: error: pyxis:     enroot-switchroot: failed to execute: /bin/bash: No such file or directory | "},
		"a container that ran": {ssh.Output{Exit: 1, Stdout: []byte("# nThread 1\n"), Stderr: []byte("slurmstepd: error: pyxis: child 5 failed with error code: 1\n")}, nil, gangjob.EndedDone, "exited with code 1"},
		"not found":            {ssh.Output{Exit: 127, Stderr: []byte("env: 'all_reduce_perf': No such file or directory\n")}, nil, gangjob.EndedNotRun, "all_reduce_perf not found"},
		"no answer":            {ssh.Output{}, errors.New("no route to host"), gangjob.EndedNotRun, "no route to host; its job may still run: no route to host"},
		"a task failed":        {ssh.Output{Exit: 1, Stdout: []byte("# nThread 1\n"), Stderr: []byte("srun: error: gpu-02: task 9: Exited with exit code 1\n")}, nil, gangjob.EndedDone, "exited with code 1"},
	} {
		h := &srunHost{out: tt.out, err: tt.err}
		g := srunGate(t, h)
		o, logs, err := g.run(t.Context(), job{test: tests[0], scope: ScopeAll, nodes: []string{"gpu-01", "gpu-02"}, repetitions: 3})
		if err != nil || o.Ended != tt.ended || o.Succeeded || !strings.Contains(o.Problem, tt.problem) || len(logs) != 1 {
			t.Errorf("%s: %+v, %v", name, o, err)
		}
		if !strings.Contains(h.ran[0], " --cpu-bind=none ") || !strings.Contains(h.ran[0], " --mem=0 ") {
			t.Errorf("%s: ran %q", name, h.ran)
		}
		cancelled := len(h.ran) > 1 && h.ran[1] == "scancel --name=firstlight-collective-r1"
		if cancelled != (tt.err != nil) {
			t.Errorf("%s: ran %q", name, h.ran)
		}
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	h := &srunHost{}
	if _, _, err := srunGate(t, h).run(ended, job{test: tests[0], scope: ScopeAll, nodes: []string{"gpu-01"}, repetitions: 1}); !errors.Is(err, context.Canceled) || len(h.ran) != 2 {
		t.Errorf("%v: %q", err, h.ran)
	}
}

// A collective that did not start is never a pass.
func TestSrunDoesNotStart(t *testing.T) {
	t.Parallel()
	h := &srunHost{out: ssh.Output{Exit: 1, Stderr: []byte("srun: error: Unable to allocate resources: Requested nodes are busy\n")}}
	g := srunGate(t, h)
	var b srunBook
	if err := g.Observe(t.Context(), &b); err != nil {
		t.Fatal(err)
	}
	if j := plan.Judge(g, b.obs); j.Verdict != check.Unobserved || !strings.Contains(j.Reason+j.Findings[0].Message, "Requested nodes are busy") || len(h.ran) != 1 {
		t.Errorf("%s: %s: %+v, ran %q", j.Verdict, j.Reason, j.Findings, h.ran)
	}
	if err := srunGate(t, nil).Observe(t.Context(), &b); err == nil {
		t.Error("a gate that only judges observes")
	}
	if e, ok := g.Excluding([]string{"gpu-03"}).(*Srun); !ok || e.Claims() != 24 || !strings.Contains(e.Describe()[1], "--nodelist=gpu-01,gpu-02,gpu-04") {
		t.Errorf("%+v", e)
	}
}

// The end of a job is that which Slurm has: a person or the scheduler can end it, and a node that fails is the suspect.
func TestSrunEnd(t *testing.T) {
	t.Parallel()
	const failed = "slurmstepd: error: *** STEP 9.0 ON gpu-01 CANCELLED AT 2026-01-01T00:00:00 DUE TO PREEMPTION ***\nsrun: error: gpu-02: task 9: Terminated\n"
	for queue, want := range map[string][2]string{
		"8|FAILED\n9|PREEMPTED\n": {gangjob.EndedNotRun, "srun exited with code 143; job 9 is PREEMPTED"},
		"9|CANCELLED\n8|FAILED\n": {gangjob.EndedNotRun, "job 9 is CANCELLED"},
		"9|DEADLINE\n":            {gangjob.EndedNotRun, "job 9 is DEADLINE"},
		"9|TIMEOUT\n":             {gangjob.EndedTimeout, "job 9 is TIMEOUT"},
		"9|FAILED\n":              {gangjob.EndedDone, "job 9 is FAILED"},
		"9|NODE_FAIL\n":           {gangjob.EndedDone, "job 9 is NODE_FAIL"},
		"9|COMPLETING\n":          {gangjob.EndedDone, "job 9 is COMPLETING"},
		"":                        {gangjob.EndedDone, "read the state of job firstlight-collective-r1"},
		"# nThread 1\n":           {gangjob.EndedDone, "read the state of job firstlight-collective-r1"},
	} {
		h := &srunHost{out: ssh.Output{Exit: 143, Stdout: []byte("# nThread 1\n"), Stderr: []byte(failed)}, queue: queue}
		g := srunGate(t, h)
		clock := testingclock.NewFakePassiveClock(time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC))
		g.runner.Deps.Clock, g.runner.Deps.Wait = clock, func(_ context.Context, by time.Duration) error { clock.SetTime(clock.Now().Add(by)); return nil }
		o, _, err := g.run(t.Context(), job{test: tests[0], scope: ScopeAll, nodes: []string{"gpu-01", "gpu-02"}, repetitions: 1})
		if err != nil || o.Succeeded || o.Ended != want[0] || !strings.Contains(o.Problem, want[1]) || len(o.Lost) > 0 {
			t.Errorf("%q: %v: %+v, want %q", queue, err, o, want)
		}
	}
}

// A job whose time is over while Pyxis imports the image is not a hang, and its repetitions have a limit each.
func TestImportIsNotAHang(t *testing.T) {
	t.Parallel()
	const importing = "pyxis: importing docker image: registry.example.com#nccl-tests:2.17\n"
	for name, tt := range map[string]struct {
		stdout, containers, queue, ended string
	}{
		"by Slurm's limit":      {"", site.ContainersPyxis, "9|TIMEOUT\n", gangjob.EndedNotRun},
		"has output":            {"# nThread 1\n", site.ContainersPyxis, "9|TIMEOUT\n", gangjob.EndedTimeout},
		"no container":          {"", site.ContainersNone, "9|TIMEOUT\n", gangjob.EndedTimeout},
		"cut off":               {"", site.ContainersPyxis, "", gangjob.EndedNotRun},
		"cut off, has output":   {"# nThread 1\n", site.ContainersPyxis, "", gangjob.EndedTimeout},
		"cut off, no container": {"", site.ContainersNone, "", gangjob.EndedTimeout},
	} {
		synctest.Test(t, func(t *testing.T) {
			out := ssh.Output{Exit: 1, Stdout: []byte(tt.stdout), Stderr: []byte(importing)}
			g := srunGate(t, waitingHost{&srunHost{out: out, queue: tt.queue}})
			g.gate.site.Slurm.Containers = tt.containers
			began := time.Now()
			o, _, err := g.run(t.Context(), job{test: tests[0], scope: ScopeAll, nodes: []string{"gpu-01"}, repetitions: 3})
			if took := time.Since(began); err != nil || o.Succeeded || o.Ended != tt.ended || strings.Contains(o.Problem, "squashfs") != (tt.ended == gangjob.EndedNotRun) || tt.queue == "" && took != 35*time.Minute {
				t.Errorf("%s: %v after %s: %+v", name, err, took, o)
			}
		})
	}
}

// waitingHost is a host whose srun does not end by itself, if Slurm does not have its job.
type waitingHost struct{ *srunHost }

func (h waitingHost) Run(ctx context.Context, host string, argv ...string) (ssh.Output, error) {
	out, err := h.srunHost.Run(ctx, host, argv...)
	if argv[0] == "srun" && h.queue == "" {
		<-ctx.Done()
		return out, ctx.Err()
	}
	return out, err
}

// srunLog is the output of nccl-tests started by srun on machines of these names.
func srunLog(c cluster, nodes []string, hosts map[string]string, repetitions int) string {
	var names []string
	for i, n := range nodes {
		names = append(names, fmt.Sprintf("J-%d", i), cmp.Or(hosts[n], n))
	}
	return strings.NewReplacer(names...).Replace(c.log("J", nodes, repetitions))
}

// A node that fails under the collective is the suspect, whether srun names it or the states of nodes do, and pairs of
// the others, which are good, say nothing.
func TestNodeLostUnderTheCollective(t *testing.T) {
	t.Parallel()
	idle := "NodeName=gpu-01 Gres=gpu:h100:8 State=IDLE\nNodeName=gpu-02 Gres=gpu:h100:8 State=IDLE\n"
	for name, tt := range map[string]struct{ stderr, nodes, message string }{
		"srun names it":    {"srun: error: Node failure on gpu-02\nsrun: error: gpu-02: task 8: Killed\n", idle, "gpu-02 failed under the collective: it is srun: error: Node failure on gpu-02"},
		"slurmctld has it": {"srun: error: gpu-01: task 0: Killed\n", strings.Replace(idle, "gpu-02 Gres=gpu:h100:8 State=IDLE", "gpu-02 Gres=gpu:h100:8 State=DOWN* Reason=Not responding", 1), "it is DOWN+NOT_RESPONDING: Not responding; srun exited with code 137; job 9 is NODE_FAIL"},
	} {
		states := []string{idle, tt.nodes}
		ran := 0
		g := srunGate(t, hostFunc(func(argv []string) ssh.Output {
			switch argv[0] {
			case "scontrol":
				out := ssh.Output{Stdout: []byte(states[0])}
				states = states[min(1, len(states)-1):]
				return out
			case "squeue":
				return ssh.Output{Stdout: []byte("9|NODE_FAIL\n")}
			}
			ran++
			return ssh.Output{Exit: 137, Stdout: []byte(srunLog(cluster{truncate: true}, []string{"gpu-01", "gpu-02", "gpu-03", "gpu-04"}, nil, 1)), Stderr: []byte(tt.stderr)}
		}))
		var b srunBook
		if err := g.Observe(t.Context(), &b); err != nil {
			t.Fatal(err)
		}
		if j := plan.Judge(g, b.obs); j.Verdict != check.Failed || j.Findings[0].Suspect != "gpu-02" || !strings.Contains(j.Findings[0].Message, tt.message) || ran != 1 {
			t.Errorf("%s: %s, %d jobs: %+v", name, j.Verdict, ran, j.Findings)
		}
	}
}

// The commands of slurm.setup run before the program, which gets its arguments and environment.
func TestSetupOfTheCollective(t *testing.T) {
	t.Parallel()
	g := srunGate(t, nil)
	g.gate.site.Slurm.Setup = "export A='it is set'"
	argv := g.argv(g.gate.all(tests[0]))
	i := slices.Index(argv, "bash")
	at := slices.Index(argv, "all_reduce_perf")
	if i < 0 || at < i {
		t.Fatalf("%q", argv)
	}
	argv[at] = "sh"
	argv = append(argv[i:at+1], "-c", `echo "$A $NCCL_DEBUG $1"`, "sh", "16G")
	if out, err := exec.CommandContext(t.Context(), argv[0], argv[1:]...).Output(); err != nil || string(out) != "it is set INFO 16G\n" {
		t.Errorf("%v: %q of %q", err, out, argv)
	}
	g.gate.site.Slurm.Setup = ""
	if slices.Contains(g.argv(g.gate.all(tests[0])), "bash") {
		t.Error("a shell without a setup")
	}
}

// Tasks that do not find each other, or nccl-tests without MPI, are a program of one rank each: nothing is known of the
// nodes, and no pairs are run.
func TestTasksThatDoNotJoin(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		wrong   bool
		verdict check.Verdict
		suspect string
		ran     int
	}{"healthy": {false, check.Unobserved, "job collective", 3}, "wrong data": {true, check.Failed, "", 0}} {
		var jobs atomic.Int64 // localisation runs several at once
		g := srunGate(t, hostFunc(func(argv []string) ssh.Output {
			if argv[0] == "scontrol" {
				return ssh.Output{Stdout: []byte("NodeName=gpu-01 Gres=gpu:h100:8 State=IDLE\n")}
			}
			jobs.Add(1)
			return ssh.Output{Stdout: []byte(interleaved(apartLog(tt.wrong), apartLog(tt.wrong)))}
		}))
		var b srunBook
		if err := g.Observe(t.Context(), &b); err != nil {
			t.Fatal(err)
		}
		j, ran := plan.Judge(g, b.obs), int(jobs.Load())
		if j.Verdict != tt.verdict || tt.suspect != "" && (j.Findings[0].Suspect != tt.suspect || len(j.Findings) != 1 || !strings.Contains(j.Findings[0].Message, "the tasks did not join")) || tt.ran > 0 && ran != g.gate.repetitions() {
			t.Errorf("%s: %s after %d jobs: %+v", name, j.Verdict, ran, j.Findings)
		}
	}
}

// apartLog is the output of a task that is a program of one rank.
func apartLog(wrong bool) string {
	var b strings.Builder
	b.WriteString("# nccl-tests version 2.19.6 nccl-headers=22807 nccl-library=22807\n# Collective test starting: all_reduce_perf\n" +
		"# nThread 1 nGpus 1 minBytes 8388608 maxBytes 17179869184 step: 2(factor) warmup iters: 1 iters: 20 agg iters: 1 validation: 1 graph: 0 unalign: 0\n#\n# Using devices\n" +
		"#  Rank  0 Group  0 Pid   1000 on     gpu-01 device  0 [0000:1b:00] NVIDIA H100 80GB HBM3\n")
	c := cluster{}
	if wrong {
		c.wrong = map[string]bool{"gpu-01": true}
	}
	c.table(&b, []string{"gpu-01"}, 2, true)
	return b.String()
}

// interleaved are the lines of two texts, alternately.
func interleaved(a, b string) string {
	var out strings.Builder
	left, right := strings.SplitAfter(a, "\n"), strings.SplitAfter(b, "\n")
	for i := range left {
		out.WriteString(left[i] + right[i])
	}
	return out.String()
}

// Machines may have other names than the nodes of Slurm (NodeHostName): findings are about nodes.
func TestHostNamesOfMachines(t *testing.T) {
	t.Parallel()
	nodes := []string{"gpu-01", "gpu-02", "gpu-03", "gpu-04"}
	hosts := map[string]string{"gpu-01": "ip-0A000405", "gpu-02": "ip-0A000406", "gpu-03": "ip-0A000407", "gpu-04": "ip-0A000408"}
	for name, tt := range map[string]struct {
		world   cluster
		verdict check.Verdict
		suspect string
	}{"healthy": {cluster{}, check.Passed, ""}, "a node less": {cluster{fewGPUs: map[string]int{"gpu-03": 1}}, check.Failed, "gpu-03"}} {
		var show strings.Builder
		for _, n := range nodes {
			fmt.Fprintf(&show, "NodeName=%s Gres=gpu:h100:8 NodeAddr=%s NodeHostName=%s Port=0 State=IDLE Partitions=batch\n", n, n, hosts[n])
		}
		g := srunGate(t, hostFunc(func(argv []string) ssh.Output {
			if argv[0] == "scontrol" {
				return ssh.Output{Stdout: []byte(show.String())}
			}
			return ssh.Output{Stdout: []byte(srunLog(tt.world, nodes, hosts, 1))}
		}))
		var b srunBook
		if err := g.Observe(t.Context(), &b); err != nil {
			t.Fatal(err)
		}
		if j := plan.Judge(g, b.obs); j.Verdict != tt.verdict || tt.suspect != "" && j.Findings[0].Suspect != tt.suspect {
			t.Errorf("%s: %s: %s: %+v", name, j.Verdict, j.Reason, j.Findings)
		}
	}
	one := []slurm.Node{{Name: "a", Host: "localhost"}, {Name: "b", Host: "localhost"}, {Name: "c", Host: "c"}, {Name: "d"}, {Name: "e", Host: "h"}}
	if got := hostsOf(one); len(got) != 1 || got["h"] != "e" {
		t.Errorf("%v", got)
	}
}

type hostFunc func(argv []string) ssh.Output

func (f hostFunc) Run(_ context.Context, _ string, argv ...string) (ssh.Output, error) {
	return f(argv), nil
}

// A collective does not start on nodes with jobs of others, which it could preempt.
func TestSrunPreemptsNoJob(t *testing.T) {
	t.Parallel()
	h := &srunHost{nodes: "NodeName=gpu-01 Gres=gpu:h100:8 State=IDLE Partitions=batch\nNodeName=gpu-02 Gres=gpu:h100:8 State=MIXED Partitions=batch\n"}
	g := srunGate(t, h)
	var b srunBook
	if err := g.Observe(t.Context(), &b); err != nil {
		t.Fatal(err)
	}
	if j := plan.Judge(g, b.obs); j.Verdict != check.Unobserved || !strings.Contains(j.Reason+j.Findings[0].Message, "gpu-02 is MIXED: it runs jobs") || len(h.ran) != 0 {
		t.Errorf("%s: %s: %+v, ran %q", j.Verdict, j.Reason, j.Findings, h.ran)
	}
}

type srunBook struct {
	mu  sync.Mutex
	obs []check.Observation
}

func (b *srunBook) Record(o check.Observation) (check.Observation, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.obs = append(b.obs, o)
	return o, nil
}

func (b *srunBook) Progress(string, ...any) {}
