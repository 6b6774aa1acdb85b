package slurm

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/probe/ssh"
	"github.com/firstlight/firstlight/internal/site"
)

func TestHealthy(t *testing.T) {
	t.Parallel()
	g, obs, l := stack(t, nil)
	j := judgeOf(g)(obs)
	if j.Verdict != check.Passed || len(j.Findings) > 0 || j.Reason != "Slurm 22.05.8: 3 nodes idle in partition batch, 8 GPUs of type h100 each; a job ran on all of them through prolog and epilog" {
		t.Errorf("%s: %s: %+v", j.Verdict, j.Reason, j.Findings)
	}
	a, records, _ := accounting(t, nil)
	if j := judgeOf(a)(records); j.Verdict != check.Passed || len(j.Findings) > 0 || j.Reason != "slurmdbd has the record of a job of 3 nodes with its 24 GPUs" {
		t.Errorf("%s: %s: %+v", j.Verdict, j.Reason, j.Findings)
	}
	want := "srun --cpu-bind=none --exclusive --gres=gpu:h100:8 --job-name=firstlight-gpustack-r1 --mem=0 --nodelist=gpu-01,gpu-02,gpu-03 --nodes=3 --partition=batch --time=5 --ntasks-per-node=1 --immediate=300 sh -c "
	if line := l.ran[len(l.ran)-2]; !strings.HasPrefix(line, want) {
		t.Errorf("%s, want %s", line, want)
	}
}

// Outputs of a real cluster with a defect fail the gate, naming what has it, and no job is started on nodes
// that cannot take it.
func TestCapturedDefects(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		command, output  string
		suspect, message string
		job              bool
	}{
		"drained":   {"scontrol show nodes", "nodes-drained", "gpu-02", "gpu-02 is IDLE+DRAIN, want IDLE: bad GPU 3 State=IDLE; see T-12 [root@", false},
		"inactive":  {"scontrol show partition", "partition-inactive", "partition batch", "partition batch is INACTIVE, want UP", false},
		"ctld down": {"scontrol ping", "ping-down", "slurmctld login", "slurmctld (primary) on login does not answer", false},
		"short":     {"scontrol show nodes", "nodes-gres-short-and-dead", "gpu-01", "7 < 8", false},
		"dead":      {"scontrol show nodes", "nodes-gres-short-and-dead", "gpu-03", "gpu-03 is IDLE+COMPLETING+NOT_RESPONDING, want IDLE", false},
	} {
		g, obs, l := stack(t, func(_ *site.Site, l *login) { l.outputs[tt.command] = captured(t, tt.output) })
		j := judgeOf(g)(obs)
		found := false
		for _, f := range j.Findings {
			found = found || f.Suspect == tt.suspect && strings.Contains(f.Message, tt.message)
		}
		if j.Verdict != check.Failed || !found || l.started() != tt.job {
			t.Errorf("%s: %s, job %t: %+v", name, j.Verdict, l.started(), j.Findings)
		}
	}
}

// A job that fails on nodes that are drained by it is theirs; other failures are the job's.
func TestJobFails(t *testing.T) {
	t.Parallel()
	failed := ssh.Output{Exit: 1, Stderr: []byte("srun: Prolog failure on node gpu-02\nsrun: error: Something is wrong with the boot of the nodes.\n")}
	looks := 0
	s, p := gateSite(t)
	l := healthy(t)
	l.outputs["srun --cpu"] = failed
	before, after := captured(t, "nodes-idle"), captured(t, "nodes-prolog-failed")
	deps := depsOf(l)
	deps.Hosts = runner(func(ctx context.Context, host string, argv ...string) (ssh.Output, error) {
		if strings.HasPrefix(strings.Join(argv, " "), "scontrol show nodes") {
			if looks++; looks > 1 {
				return after, nil
			}
			return before, nil
		}
		return l.Run(ctx, host, argv...)
	})
	g := NewStack(s, p, deps)
	j := judgeOf(g)(observed(t, g))
	if j.Verdict != check.Failed || len(j.Findings) != 1 || j.Findings[0].Suspect != "gpu-02" || !strings.Contains(j.Findings[0].Message, "Prolog error") {
		t.Errorf("%s: %+v", j.Verdict, j.Findings)
	}
	g, obs, _ := stack(t, func(_ *site.Site, l *login) { // srun itself cancels such a job
		l.outputs["srun --cpu"], l.outputs["squeue "] = failed, ssh.Output{Stdout: []byte("22|CANCELLED\n")}
	})
	j = judgeOf(g)(obs)
	if j.Verdict != check.Failed || len(j.Findings) != 1 || j.Findings[0].Suspect != "job firstlight-gpustack-r1" || !strings.Contains(j.Findings[0].Message, "Prolog failure on node gpu-02") {
		t.Errorf("%s: %+v", j.Verdict, j.Findings)
	}
	a, records, _ := accounting(t, func(_ *site.Site, l *login) { l.outputs["srun --cpu"] = failed })
	if j := judgeOf(a)(records); j.Verdict != check.Unobserved || !strings.Contains(j.Findings[0].Message, "did not run") {
		t.Errorf("%s: %+v", j.Verdict, j.Findings)
	}
}

// A job that other jobs keep from its nodes is not observed; one that Slurm refuses for another reason is a failure.
func TestJobGetsNoNodes(t *testing.T) {
	t.Parallel()
	for reason, want := range map[string]check.Verdict{
		"Requested nodes are busy": check.Unobserved, "Immediate execution impossible, insufficient priority": check.Unobserved,
		"Invalid account or account/partition combination specified": check.Failed, "Requested node configuration is not available": check.Failed,
	} {
		reads := 0
		s, p := gateSite(t)
		l := healthy(t)
		l.outputs["srun --cpu"] = ssh.Output{Exit: 1, Stderr: []byte("srun: error: Unable to allocate resources: " + reason + "\n")}
		before, after := captured(t, "nodes-idle"), captured(t, "nodes-allocated")
		deps := depsOf(l)
		deps.Hosts = runner(func(ctx context.Context, host string, argv ...string) (ssh.Output, error) {
			if strings.HasPrefix(strings.Join(argv, " "), "scontrol show nodes") {
				if reads++; reads > 1 {
					return after, nil
				}
				return before, nil
			}
			return l.Run(ctx, host, argv...)
		})
		g := NewStack(s, p, deps)
		if j := judgeOf(g)(observed(t, g)); j.Verdict != want || len(j.Findings) != 1 || !strings.Contains(j.Findings[0].Message, reason) {
			t.Errorf("%s: %s: %+v", reason, j.Verdict, j.Findings)
		}
	}
}

// A job that a person or the scheduler ended is not a failure of the cluster.
func TestJobIsEnded(t *testing.T) {
	t.Parallel()
	for queue, want := range map[string]check.Verdict{"9|PREEMPTED\n": check.Unobserved, "9|CANCELLED\n": check.Unobserved, "9|FAILED\n": check.Failed, "": check.Failed, "9|COMPLETING\n": check.Failed} {
		g, obs, _ := stack(t, func(_ *site.Site, l *login) {
			l.outputs["srun --cpu"] = ssh.Output{Exit: 143, Stderr: []byte("slurmstepd: error: *** STEP 9.0 ON gpu-01 CANCELLED AT 2026-01-01T00:00:00 ***\n")}
			l.outputs["squeue "] = ssh.Output{Stdout: []byte(queue)}
		})
		if j := judgeOf(g)(obs); j.Verdict != want || !strings.Contains(j.Findings[0].Message, "STEP 9.0 ON gpu-01 CANCELLED") {
			t.Errorf("%q: %s: %+v", queue, j.Verdict, j.Findings)
		}
	}
}

type runner func(ctx context.Context, host string, argv ...string) (ssh.Output, error)

func (r runner) Run(ctx context.Context, host string, argv ...string) (ssh.Output, error) {
	return r(ctx, host, argv...)
}

// Gate telemetry starts no job on nodes that run jobs of others: a job of the gate could preempt them.
func TestAccountingPreemptsNoJob(t *testing.T) {
	t.Parallel()
	for _, state := range []string{"nodes-allocated", "nodes-completing"} {
		a, records, l := accounting(t, func(_ *site.Site, l *login) { l.outputs["scontrol show nodes"] = captured(t, state) })
		if j := judgeOf(a)(records); j.Verdict != check.Unobserved || l.started() || !strings.Contains(j.Findings[0].Message, "it runs jobs") {
			t.Errorf("%s: %s: %+v, ran %q", state, j.Verdict, j.Findings, l.ran)
		}
	}
}

// The wait for nodes that complete a job ends, and the job of an srun that was cut off is cancelled.
func TestWaits(t *testing.T) {
	t.Parallel()
	g, obs, _ := stack(t, func(_ *site.Site, l *login) { l.outputs["scontrol show nodes"] = captured(t, "nodes-completing") })
	if j := judgeOf(g)(obs); j.Verdict != check.Failed || !strings.Contains(j.Findings[0].Message, "IDLE+COMPLETING") {
		t.Errorf("%s: %+v", j.Verdict, j.Findings)
	}
	g, obs, l := stack(t, func(_ *site.Site, l *login) { delete(l.outputs, "srun --cpu") })
	if j := judgeOf(g)(obs); j.Verdict != check.Unobserved || l.ran[len(l.ran)-2] != "scancel --name=firstlight-gpustack-r1" {
		t.Errorf("%s: %q", j.Verdict, l.ran)
	}
	g, obs, _ = stack(t, func(_ *site.Site, l *login) {
		delete(l.outputs, "srun --cpu")
		l.outputs["scancel"] = ssh.Output{Exit: 1, Stderr: []byte("scancel: error: Access denied\n")}
	})
	if j := judgeOf(g)(obs); j.Verdict != check.Unobserved || !strings.Contains(j.Findings[0].Message, "its job may still run: scancel exited with code 1: scancel: error: Access denied") {
		t.Errorf("%s: %+v", j.Verdict, j.Findings)
	}
	a, records, _ := accounting(t, func(_ *site.Site, l *login) { l.outputs["sacct"] = ssh.Output{} })
	if j := judgeOf(a)(records); j.Verdict != check.Failed || !strings.Contains(j.Findings[0].Message, "no record of job 1 firstlight-telemetry-r1 after 5m") {
		t.Errorf("%s: %+v", j.Verdict, j.Findings)
	}
}

// The record of an old job with the same ID is neither the end of the wait nor the job's.
func TestRecordOfAnOldJob(t *testing.T) {
	t.Parallel()
	s, p := gateSite(t)
	l := healthy(t)
	own := captured(t, "record-completed")
	looks := 0
	deps := depsOf(l)
	deps.Hosts = runner(func(ctx context.Context, host string, argv ...string) (ssh.Output, error) {
		if argv[0] != "sacct" {
			return l.Run(ctx, host, argv...)
		}
		if looks++; looks < 3 {
			return ssh.Output{Stdout: bytes.Replace(own.Stdout, []byte("-r1"), []byte("-r0"), 1)}, nil
		}
		return own, nil
	})
	g := NewAccounting(s, p, deps)
	if j := judgeOf(g)(observed(t, g)); j.Verdict != check.Passed || looks != 3 {
		t.Errorf("%s after %d reads: %+v", j.Verdict, looks, j.Findings)
	}
}

// Only the nodes of the inventory are asked for: the evidence does not have the reasons of others. One that
// Slurm does not have is a failure.
func TestNodesOfTheInventory(t *testing.T) {
	t.Parallel()
	_, obs, l := stack(t, nil)
	want := "scontrol show nodes gpu-01,gpu-02,gpu-03 -a -o"
	if n := strings.Count(strings.Join(l.ran, "\n"), want); n != 2 || strings.Count(strings.Join(l.ran, "\n"), "show nodes") != 2 {
		t.Errorf("%q", l.ran)
	}
	for _, o := range obs {
		if o.Kind == kindNodes && o.Command != want {
			t.Error(o.Command)
		}
	}
	for name, tt := range map[string]struct {
		out  ssh.Output
		want string
	}{
		"one":      {ssh.Output{Exit: 1, Stdout: append([]byte("Node gpu-01 not found\n"), bytes.SplitAfterN(captured(t, "nodes-idle").Stdout, []byte("\n"), 2)[1]...)}, "gpu-01"},
		"on error": {ssh.Output{Exit: 1, Stderr: []byte("Node gpu-01 not found\n"), Stdout: bytes.SplitAfterN(captured(t, "nodes-idle").Stdout, []byte("\n"), 2)[1]}, "gpu-01"},
		"all":      {ssh.Output{Exit: 1, Stdout: []byte("Node gpu-01 not found\nNode gpu-02 not found\nNode gpu-03 not found\n")}, "gpu-01 gpu-02 gpu-03"},
	} {
		g, obs, l := stack(t, func(_ *site.Site, l *login) { l.outputs["scontrol show nodes"] = tt.out })
		j := judgeOf(g)(obs)
		var got []string
		for _, f := range j.Findings {
			if strings.Contains(f.Message, "is not a node of the cluster") {
				got = append(got, f.Suspect)
			}
		}
		if j.Verdict != check.Failed || strings.Join(got, " ") != tt.want || l.started() {
			t.Errorf("%s: %s: %+v", name, j.Verdict, j.Findings)
		}
	}
	g, obs, _ := stack(t, func(_ *site.Site, l *login) {
		l.outputs["scontrol show nodes"] = ssh.Output{Exit: 1, Stderr: []byte("slurm_load_node error: Unable to contact slurm controller (connect failure)\n")}
	})
	if j := judgeOf(g)(obs); j.Verdict != check.Unobserved || !strings.Contains(j.Findings[0].Message, "Unable to contact") {
		t.Errorf("%s: %+v", j.Verdict, j.Findings)
	}
}

// Without one of its observations a gate is unobserved.
func TestMissing(t *testing.T) {
	t.Parallel()
	g, obs, _ := stack(t, nil)
	a, records, _ := accounting(t, nil)
	for name, of := range map[string]struct {
		judge func([]check.Observation) check.Judgement
		obs   []check.Observation
	}{"gpustack": {judgeOf(g), obs}, "telemetry": {judgeOf(a), records}} {
		for i, o := range of.obs {
			without := append(append([]check.Observation{}, of.obs[:i]...), of.obs[i+1:]...)
			if j := of.judge(without); j.Verdict != check.Unobserved {
				t.Errorf("%s without %s: %s", name, o.Kind, j.Verdict)
			}
			failed := append([]check.Observation{}, of.obs...)
			failed[i].Err, failed[i].Figures = "no answer", nil
			if j := of.judge(failed); j.Verdict != check.Unobserved || !strings.Contains(j.Findings[0].Message, "no answer") {
				t.Errorf("%s with a failed %s: %s: %+v", name, o.Kind, j.Verdict, j.Findings)
			}
		}
		if j := of.judge(nil); j.Verdict != check.Unobserved {
			t.Errorf("%s without observations: %s", name, j.Verdict)
		}
	}
	if err := NewStack(g.site, g.profile, Deps{}).Observe(t.Context(), &book{}); err == nil {
		t.Error("a gate that only judges observes")
	}
}

// A site says which parts its cluster does not have; a pass names them.
func TestWithout(t *testing.T) {
	t.Parallel()
	g, obs, _ := stack(t, func(s *site.Site, l *login) {
		s.Slurm.Without, s.Slurm.Containers, s.Slurm.GPUType = []string{site.WithoutProlog, site.WithoutEpilog}, site.ContainersNone, ""
		delete(l.outputs, "srun --help")
		l.outputs["scontrol show config"] = ssh.Output{Stdout: []byte("ClusterName=a\nSLURM_VERSION=25.05.1\nSlurmctldHost[0]=c\n")}
		l.outputs["srun --cpu"] = ssh.Output{Stdout: []byte("firstlight-task gpu-01 1 8 -\nfirstlight-task gpu-02 1 8 -\nfirstlight-task gpu-03 1 8 -\n")}
	})
	j := judgeOf(g)(obs)
	if j.Verdict != check.Passed || len(j.Lowered) != 2 || strings.Contains(j.Reason, "through") {
		t.Errorf("%s: %s: %+v, lowered %q", j.Verdict, j.Reason, j.Findings, j.Lowered)
	}
}

func TestExcluding(t *testing.T) {
	t.Parallel()
	g, _, _ := stack(t, nil)
	without, ok := g.Excluding([]string{"gpu-02"}).(*Stack)
	if !ok || without.Claims() != 16 || !strings.Contains(ssh.Quote(without.jobCommand("x")), "--nodelist=gpu-01,gpu-03") {
		t.Errorf("%+v", without)
	}
	a, _, _ := accounting(t, nil)
	if b, ok := a.Excluding([]string{"gpu-02"}).(*Accounting); !ok || b.Claims() != 16 {
		t.Errorf("%+v", b)
	}
	for _, lines := range [][]string{g.Describe(), a.Describe()} {
		if len(lines) < 3 || !strings.Contains(lines[0], "login-01") {
			t.Errorf("%q", lines)
		}
	}
}

var errSSH = errors.New("no route to host")

// A login host that does not answer is unobserved.
func TestUnreachable(t *testing.T) {
	t.Parallel()
	s, p := gateSite(t)
	deps := depsOf(healthy(t))
	deps.Hosts = runner(func(context.Context, string, ...string) (ssh.Output, error) { return ssh.Output{}, errSSH })
	for _, c := range []check.Check{NewStack(s, p, deps), NewAccounting(s, p, deps)} {
		if j := judgeOf(c)(observed(t, c)); j.Verdict != check.Unobserved || !strings.Contains(j.Findings[0].Message, errSSH.Error()) {
			t.Errorf("%s: %s: %+v", c.Name(), j.Verdict, j.Findings)
		}
	}
}
