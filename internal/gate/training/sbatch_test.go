package training

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	testingclock "k8s.io/utils/clock/testing"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/checktest"
	"github.com/firstlight/firstlight/internal/gate/onhost"
	"github.com/firstlight/firstlight/internal/gate/slurmjob"
	"github.com/firstlight/firstlight/internal/plan"
	"github.com/firstlight/firstlight/internal/probe/ssh"
	"github.com/firstlight/firstlight/internal/profile"
	"github.com/firstlight/firstlight/internal/site"
)

// slurmLogin is the login host of a cluster whose job 7 prints what a trainer does.
type slurmLogin struct {
	outputs map[string]ssh.Output
	ran     []string
}

func (l *slurmLogin) Run(_ context.Context, _ string, argv ...string) (ssh.Output, error) {
	line := ssh.Quote(argv)
	l.ran = append(l.ran, line)
	for prefix, out := range l.outputs {
		if strings.HasPrefix(line, prefix) {
			return out, nil
		}
	}
	return ssh.Output{}, fmt.Errorf("no output of %.40s", line)
}

// jobOutput is the output of the job of four nodes.
func jobOutput(w fakeTrainer) string {
	var b strings.Builder
	for i := range 4 {
		fmt.Fprintf(&b, "%d: firstlight-task begin %d gpu-0%d\n", i, i, i+1)
		for line := range strings.Lines(w.log(frameworkTorchtitan, i, 60)) {
			fmt.Fprintf(&b, "%d: %s", i, line)
		}
		fmt.Fprintf(&b, "%d: firstlight-task end %d %d\n", i, i, w.exit[i])
	}
	return b.String() + "firstlight-batch end 7 0\n"
}

// begun is the beginning of the output of the first tasks.
func begun(tasks int) string {
	var b strings.Builder
	for i := range tasks {
		fmt.Fprintf(&b, "%d: firstlight-task begin %d gpu-0%d\n", i, i, i+1)
	}
	return b.String()
}

// cancelledAt is what slurmstepd of the first node prints for the step, with the label of its task.
func cancelledAt(text string) string {
	return "0: slurmstepd: error: *** STEP 7.0 ON gpu-01 CANCELLED AT " + text + " ***\nslurmstepd: error: *** JOB 7 ON gpu-01 CANCELLED AT " + text + " ***\n"
}

func jobState(state string) ssh.Output {
	return ssh.Output{Stdout: []byte("JobId=7 JobName=firstlight-training-r1 JobState=" + state + " Requeue=0 Restarts=0 ExitCode=0:0 NodeList=gpu-[01-04] BatchHost=gpu-01 NumNodes=4 NumCPUs=32\n")}
}

func sbatchGate(t *testing.T, w fakeTrainer, change func(*site.Site, *slurmLogin)) (*Sbatch, []check.Observation, *slurmLogin) {
	t.Helper()
	s, err := site.Parse("slurm.yaml", site.SlurmExample())
	if err != nil {
		t.Fatal(err)
	}
	p, err := profile.Load(s.Profile)
	if err != nil {
		t.Fatal(err)
	}
	l := &slurmLogin{outputs: map[string]ssh.Output{
		"sbatch": {Stdout: []byte("7\n")}, "scontrol show job 7 ": jobState("COMPLETED Reason=None"), "sh -c ": {Stdout: []byte(jobOutput(w))}, "scancel": {},
		"scontrol show nodes ": {Stdout: []byte("NodeName=gpu-01 Gres=gpu:h100:8 State=IDLE Partitions=batch\n")},
		"sacct":                {Stdout: []byte("7|COMPLETED|0:0|4|billing=32,cpu=32,gres/gpu:h100=32,gres/gpu=32,node=4|firstlight-training-r1\n")},
	}}
	if change != nil {
		change(s, l)
	}
	clock := testingclock.NewFakePassiveClock(time.Date(2026, 11, 27, 12, 0, 0, 0, time.UTC))
	g := NewSbatch(s, p, onhost.Deps{Hosts: l, Clock: clock, Wait: func(ctx context.Context, by time.Duration) error {
		clock.SetTime(clock.Now().Add(by))
		return ctx.Err()
	}}, "r1")
	rec := &recorder{}
	if err := g.Observe(t.Context(), rec); err != nil {
		t.Fatal(err)
	}
	return g, rec.obs, l
}

func TestSbatch(t *testing.T) {
	t.Parallel()
	g, obs, l := sbatchGate(t, fakeTrainer{}, nil)
	j := plan.Judge(g, obs)
	if j.Verdict != check.Passed || len(j.Findings) > 0 || len(j.Lowered) != 1 || !strings.Contains(j.Lowered[0], "checkpoint is not set") || !strings.Contains(j.Reason, "32 ranks trained 60 steps") || len(obs) != 1+4+1+1 {
		t.Fatalf("%s: %s, %d observations, lowered %q: %+v", j.Verdict, j.Reason, len(obs), j.Lowered, j.Findings)
	}
	for _, want := range []string{
		"sbatch --exclusive --gres=gpu:h100:8 --job-name=firstlight-training-r1 --mem=0 --no-requeue --nodelist=gpu-01,gpu-02,gpu-03,gpu-04 --nodes=4 --parsable --partition=batch --time=30 --chdir=/tmp --output=/tmp/firstlight-training-r1-%j.out",
		"--container-image=registry.example.com#torchtitan:0.2.0", "NNODES=4", "-m torchtitan.train",
	} {
		if !strings.Contains(l.ran[1], want) {
			t.Errorf("%s has no %q", l.ran[1], want)
		}
	}
	// A replay has no run: its judge is the same.
	if replayed := plan.Judge(NewSbatch(g.gate.site, g.gate.profile, onhost.Deps{}, ""), obs); replayed.Verdict != check.Passed {
		t.Errorf("replayed: %s: %+v", replayed.Verdict, replayed.Findings)
	}
	if e, ok := g.Excluding([]string{"gpu-03"}).(*Sbatch); !ok || e.Claims() != 24 || !strings.Contains(e.Describe()[1], "--nodelist=gpu-01,gpu-02,gpu-04") || len(e.Describe()) != 6 {
		t.Errorf("%+v", e)
	}
	if err := NewSbatch(g.gate.site, g.gate.profile, onhost.Deps{}, "").Observe(t.Context(), &recorder{}); err == nil {
		t.Error("a gate that only judges observes")
	}
}

// Slurm's state of the job and its record must agree with the output.
func TestSbatchRules(t *testing.T) {
	t.Parallel()
	g, obs, _ := sbatchGate(t, fakeTrainer{}, nil)
	checktest.Rules(t, func(obs []check.Observation) check.Judgement { return plan.Judge(g, obs) }, obs, []checktest.Rule{
		checktest.When("the job ended well", checktest.Set(KindState, `.state`, "FAILED")).Fails("job training", "job 7 is FAILED with exit code 0:0, and its output shows success"),
		checktest.When("its exit code is 0", checktest.Set(KindState, `.exit`, "0:9")).Fails("job training", "exit code 0:9"),
		checktest.When("it ran once", checktest.Set(KindState, `.restarts`, 1)).Unobserved("job training", "was requeued 1 times"),
		checktest.When("it had all nodes", checktest.Set(KindState, `.nodes`, 3)).Fails("job training", "had 3 nodes, want 4"),
		checktest.When("it is the job that was submitted", checktest.Set(KindState, `.name`, "firstlight-training-r0")).Unobserved("job training", `is "firstlight-training-r0", and "firstlight-training-r1" was submitted`),
		checktest.When("it has a name", checktest.Set(KindState, `.name`, ""), checktest.Set(KindState, `.submitted`, "")).Unobserved("job training", `was submitted`),
		checktest.When("its record is of a job that ended well", checktest.Set(slurmjob.KindRecord, `.records[0].state`, "NODE_FAIL")).Fails("slurmdbd", "state NODE_FAIL"),
		checktest.When("its record has the exit code", checktest.Set(slurmjob.KindRecord, `.records[0].exit`, "1:0")).Fails("slurmdbd", "exit code 1:0"),
		checktest.When("its record has the nodes", checktest.Set(slurmjob.KindRecord, `.records[0].nodes`, 3)).Fails("slurmdbd", "has 3 nodes, want 4"),
		checktest.When("its record has the GPUs", checktest.Set(slurmjob.KindRecord, `.records[0].gpus`, 24)).Fails("slurm.conf AccountingStorageTRES", "has 24 GPUs, want 32"),
		checktest.When("its record is of the run", checktest.Set(slurmjob.KindRecord, `.records[0].name`, "firstlight-training-r0")).Fails("slurmdbd", "no record of job 7 firstlight-training-r1"),
		checktest.When("there is a record", checktest.Set(slurmjob.KindRecord, `.records`, []any{})).Fails("slurmdbd", "no record of job 7"),
		checktest.When("a task runs on each node", checktest.Set("rank-log@gpu-02", `.node`, "gpu-01")).Fails("gpu-01", "2 pods of the job ran on gpu-01"),
	})
	for i, o := range obs {
		without := append(append([]check.Observation{}, obs[:i]...), obs[i+1:]...)
		if j := plan.Judge(g, without); j.Verdict == check.Passed {
			t.Errorf("without %s of %s: %s", o.Kind, o.Target, j.Verdict)
		}
	}
}

// A job that fails, waits, is cancelled, loses a node or hangs is never a pass. A failure names the node.
func TestSbatchNeverPasses(t *testing.T) {
	t.Parallel()
	nodes := "NodeName=gpu-01 Gres=gpu:h100:8 State=IDLE Partitions=batch\nNodeName=gpu-02 Gres=gpu:h100:8 State=DOWN+NOT_RESPONDING Partitions=batch Reason=Not responding [root@2026-11-27T12:00:00]\n"
	for name, tt := range map[string]struct {
		world   fakeTrainer
		change  func(*site.Site, *slurmLogin)
		verdict check.Verdict
		suspect string
		message string
	}{
		"a task fails": {fakeTrainer{exit: map[int]int32{2: 1}}, func(_ *site.Site, l *slurmLogin) {
			l.outputs["scontrol show job 7 "] = jobState("FAILED Reason=NonZeroExitCode")
		},
			check.Failed, "gpu-03", "job 7 is FAILED"},
		"tasks that were ended are not the cause": {fakeTrainer{}, func(_ *site.Site, l *slurmLogin) {
			l.outputs["scontrol show job 7 "] = jobState("FAILED Reason=NonZeroExitCode")
			l.outputs["sh -c "] = ssh.Output{Stdout: []byte("0: firstlight-task begin 0 gpu-01\n1: firstlight-task begin 1 gpu-02\n1: firstlight-task end 1 3\n0: firstlight-task end 0 143\nslurmstepd: error: *** STEP 7.0 CANCELLED\n")}
		}, check.Failed, "gpu-02", "STEP 7.0 CANCELLED"},
		"a node fails": {fakeTrainer{}, func(_ *site.Site, l *slurmLogin) {
			l.outputs["scontrol show job 7 "], l.outputs["scontrol show nodes "] = jobState("NODE_FAIL Reason=None"), ssh.Output{Stdout: []byte(nodes)}
			l.outputs["sh -c "] = ssh.Output{Stdout: []byte("0: firstlight-task begin 0 gpu-01\n")}
		}, check.Failed, "gpu-02", "gpu-02 failed under the training: it is DOWN+NOT_RESPONDING: Not responding"},
		"a node failed and is up again": {fakeTrainer{}, func(_ *site.Site, l *slurmLogin) {
			l.outputs["scontrol show job 7 "], l.outputs["scontrol show nodes "] = jobState("NODE_FAIL Reason=None"), ssh.Output{Stdout: []byte(strings.Replace(nodes, "DOWN+NOT_RESPONDING", "IDLE", 1))}
		}, check.Failed, "job training", "job 7 is NODE_FAIL"},
		"it hangs": {fakeTrainer{}, func(_ *site.Site, l *slurmLogin) {
			l.outputs["scontrol show job 7 "] = jobState("TIMEOUT Reason=TimeLimit")
		}, check.Failed, "job training", "hangs: it did not end before its timeout"},
		"it waits": {fakeTrainer{}, func(_ *site.Site, l *slurmLogin) {
			l.outputs["scontrol show job 7 "] = jobState("PENDING Reason=Resources")
		}, check.Unobserved, "job training", "did not begin in time: it is PENDING (Resources)"},
		"a hang is not one of the first node": {fakeTrainer{}, func(_ *site.Site, l *slurmLogin) {
			l.outputs["scontrol show job 7 "] = jobState("TIMEOUT Reason=TimeLimit")
			l.outputs["sh -c "] = ssh.Output{Stdout: []byte(begun(4) + cancelledAt("2020-10-28T19:25:55 DUE TO TIME LIMIT"))}
		}, check.Failed, "job training", "hangs: it did not end before its timeout"},
		"the line of the first node is not the cause": {fakeTrainer{}, func(_ *site.Site, l *slurmLogin) {
			l.outputs["scontrol show job 7 "] = jobState("FAILED Reason=NonZeroExitCode")
			l.outputs["sh -c "] = ssh.Output{Stdout: []byte(begun(4) + "2: firstlight-task end 2 1\n" + cancelledAt("2026-01-01T00:00:00"))}
		}, check.Failed, "gpu-03", "training failed: job 7 is FAILED"},
		"srun names the node": {fakeTrainer{}, func(_ *site.Site, l *slurmLogin) {
			l.outputs["scontrol show job 7 "] = jobState("FAILED Reason=NonZeroExitCode")
			l.outputs["sh -c "] = ssh.Output{Stdout: []byte(begun(2) + cancelledAt("2026-01-01T00:00:00") + "srun: error: gpu-03: task 2: Exited with exit code 1\nsrun: error: gpu-01: task 0: Terminated\n")}
		}, check.Failed, "gpu-03", "training failed: job 7 is FAILED"},
		"srun names several tasks": {fakeTrainer{}, func(_ *site.Site, l *slurmLogin) {
			l.outputs["scontrol show job 7 "] = jobState("FAILED Reason=NonZeroExitCode")
			l.outputs["sh -c "] = ssh.Output{Stdout: []byte(begun(4) + "srun: error: gpu-[02,04]: tasks 1,3: Exited with exit code 3\n")}
		}, check.Failed, "gpu-02", "pod task-3 on gpu-04: ended, exit code 3"},
		"a task does not begin": {fakeTrainer{}, func(_ *site.Site, l *slurmLogin) {
			l.outputs["scontrol show job 7 "] = jobState("FAILED Reason=NonZeroExitCode")
			l.outputs["sh -c "] = ssh.Output{Stdout: []byte(begun(3) + cancelledAt("2026-01-01T00:00:00"))}
		}, check.Failed, "task-3", "training failed: job 7 is FAILED"},
		"no container": {fakeTrainer{}, func(_ *site.Site, l *slurmLogin) {
			l.outputs["scontrol show job 7 "] = jobState("FAILED Reason=NonZeroExitCode")
			l.outputs["sh -c "] = ssh.Output{Stdout: []byte("2: slurmstepd: error: pyxis: failed to create container filesystem\nsrun: error: gpu-03: task 2: Exited with exit code 1\n\nfirstlight-batch end 7 1\n")}
		}, check.Unobserved, "job training", "a container was not started: slurmstepd: error: pyxis: failed to create container filesystem | srun: error: gpu-03: task 2"},
		"nodes in use": {fakeTrainer{}, func(_ *site.Site, l *slurmLogin) {
			l.outputs["scontrol show nodes "] = ssh.Output{Stdout: []byte(strings.Replace(nodes, "DOWN+NOT_RESPONDING", "MIXED", 1))}
			delete(l.outputs, "sbatch")
		}, check.Unobserved, "job training", "the job was not submitted: gpu-02 is MIXED: it runs jobs"},
		"is cancelled": {fakeTrainer{}, func(_ *site.Site, l *slurmLogin) {
			l.outputs["scontrol show job 7 "] = jobState("CANCELLED Reason=None")
		}, check.Unobserved, "job training", "job 7 is CANCELLED"},
		"no sbatch": {fakeTrainer{}, func(_ *site.Site, l *slurmLogin) { delete(l.outputs, "sbatch") }, check.Unobserved, "job training", "was not submitted"},
		"no slurmdbd": {fakeTrainer{}, func(_ *site.Site, l *slurmLogin) {
			l.outputs["sacct"] = ssh.Output{Exit: 1, Stderr: []byte("sacct: error: Problem talking to the database: Connection refused\n")}
		}, check.Failed, "slurmdbd", "does not answer"},
		"loss is nan": {fakeTrainer{nanAt: 40}, nil, check.Failed, "loss of job training", "nan"},
		"a rank less": {fakeTrainer{mute: map[int]bool{9: true}}, nil, check.Failed, "gpu-02", "ranks 9 on gpu-02 have no output"},
	} {
		g, obs, _ := sbatchGate(t, tt.world, tt.change)
		j := plan.Judge(g, obs)
		if j.Verdict != tt.verdict || len(j.Findings) == 0 || j.Findings[0].Suspect != tt.suspect || !strings.Contains(j.Findings[0].Message, tt.message) {
			t.Errorf("%s: %s: %s: %+v", name, j.Verdict, j.Reason, j.Findings)
		}
	}
}

// A cluster without accounting is not asked for the record, and the pass names it.
func TestSbatchWithoutAccounting(t *testing.T) {
	t.Parallel()
	g, obs, l := sbatchGate(t, fakeTrainer{}, func(s *site.Site, l *slurmLogin) {
		s.Slurm.Without = []string{site.WithoutAccounting}
		s.Slurm.Containers, s.Workloads.Training.Checkpoint = site.ContainersNone, &site.Checkpoint{Directory: "/mnt/checkpoints", SizeGiB: 16}
		delete(l.outputs, "sacct")
		out := jobOutput(fakeTrainer{})
		for i := range 4 {
			begin := fmt.Sprintf("%d: firstlight-task begin %d gpu-0%d\n", i, i, i+1)
			out = strings.Replace(out, begin, begin+fmt.Sprintf("%d: %s", i, checkpointLine(i, "lustre", `"bytes": 17179869184, "writeSeconds": 5.5, "readSeconds": 3.25`)), 1)
		}
		l.outputs["sh -c "] = ssh.Output{Stdout: []byte(out)}
	})
	j := plan.Judge(g, obs)
	if j.Verdict != check.Passed || len(j.Lowered) != 1 || !strings.Contains(j.Lowered[0], "accounting") || strings.Contains(l.ran[1], "--container-image") || !strings.Contains(l.ran[1], "CHECKPOINT_DIRECTORY=/mnt/checkpoints") {
		t.Errorf("%s: %s, lowered %q: %+v", j.Verdict, j.Reason, j.Lowered, j.Findings)
	}
}

// Most ranks of Megatron print no times: the start window is that of the tasks.
func TestSbatchStartWindow(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		late    int
		times   bool
		verdict check.Verdict
		message string
	}{
		"together": {1, true, check.Passed, ""}, "late": {900, true, check.Failed, "pod task-3 on gpu-04 started 900 s after pod task-0 on gpu-01"},
		"unknown": {0, false, check.Unobserved, "the start times of the ranks are unknown"},
	} {
		g, obs, _ := sbatchGate(t, fakeTrainer{}, func(_ *site.Site, l *slurmLogin) {
			out := jobOutput(fakeTrainer{})
			for i := range 4 {
				begin := fmt.Sprintf("%d: firstlight-task begin %d gpu-0%d", i, i, i+1)
				if tt.times {
					out = strings.Replace(out, begin, fmt.Sprintf("%s %d", begin, 1764416000+i/3*tt.late), 1)
				}
			}
			l.outputs["sh -c "] = ssh.Output{Stdout: []byte(out)}
		})
		for i, o := range obs { // ranks without times
			if o.Kind != KindRanks {
				continue
			}
			f, err := check.Decode[RankFigures](o)
			if err != nil {
				t.Fatal(err)
			}
			for k := range f.Ranks {
				f.Ranks[k].Started = time.Time{}
			}
			if obs[i].Figures, err = json.Marshal(f); err != nil {
				t.Fatal(err)
			}
		}
		j := plan.Judge(g, obs)
		if j.Verdict != tt.verdict || !strings.Contains(fmt.Sprint(j.Findings), tt.message) {
			t.Errorf("%s: %s: %+v", name, j.Verdict, j.Findings)
		}
	}
}

// An output that could not be deleted changes no verdict, and is reported.
func TestOutputRemains(t *testing.T) {
	t.Parallel()
	g, obs, _ := sbatchGate(t, fakeTrainer{}, nil)
	for i, o := range obs {
		if o.Kind == KindJob {
			obs[i].Figures = []byte(strings.Replace(string(o.Figures), `"succeeded":true`, `"succeeded":true,"leftover":"/tmp/7.out remains on gpu-01: gpu-01 is MIXED"`, 1))
		}
	}
	j := plan.Judge(g, obs)
	if j.Verdict != check.Passed || len(j.Findings) != 1 || j.Findings[0].Message != "the output of the job was not deleted: /tmp/7.out remains on gpu-01: gpu-01 is MIXED" {
		t.Errorf("%s: %s: %+v", j.Verdict, j.Reason, j.Findings)
	}
}
