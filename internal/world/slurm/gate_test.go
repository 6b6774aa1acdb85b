package slurm

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/site"
	"github.com/firstlight/firstlight/internal/suite"
	"github.com/firstlight/firstlight/internal/world"
)

// fault is a defect of a real Slurm cluster, and the gate that it fails.
type fault struct {
	name, gate, suspect, message string
	// inject returns once slurmctld shows the defect.
	inject func(ctx context.Context, t *testing.T, c cluster) error
	// repair makes the cluster healthy again, before it is idle.
	repair func(ctx context.Context, c cluster) error
}

func update(ctx context.Context, c cluster, args ...string) error {
	_, errs, exit, err := c.Run(ctx, append([]string{"scontrol", "update"}, args...)...)
	if err == nil && exit != 0 {
		err = fmt.Errorf("scontrol update: %s", errs)
	}
	return err
}

func hook(name, script string) func(context.Context, *testing.T, cluster) error {
	return func(_ context.Context, _ *testing.T, c cluster) error { return c.Hook(name, script) }
}

func unhook(name string) func(context.Context, cluster) error {
	return func(_ context.Context, c cluster) error { return c.Hook(name, "") }
}

func settings(s Settings, state string) func(context.Context, *testing.T, cluster) error {
	return func(ctx context.Context, _ *testing.T, c cluster) error {
		return c.Set(ctx, s, func(ctx context.Context) error {
			return c.States(ctx, func(states []string) error {
				for _, s := range states {
					if !slices.Contains([]string{"IDLE", state}, s[strings.LastIndex(s, "+")+1:]) {
						return fmt.Errorf("states %q", states)
					}
				}
				if !strings.Contains(strings.Join(states, " "), state) {
					return fmt.Errorf("no state %s in %q", state, states)
				}
				return nil
			})
		})
	}
}

func unset(ctx context.Context, c cluster) error { return c.Set(ctx, Settings{}, c.Idle) }

func partition(state string) func(context.Context, *testing.T, cluster) error {
	return func(ctx context.Context, _ *testing.T, c cluster) error {
		return update(ctx, c, "PartitionName="+Partition, "State="+state)
	}
}

func partitionUp(ctx context.Context, c cluster) error {
	return update(ctx, c, "PartitionName="+Partition, "State=UP")
}

var faults = []fault{
	{"node drained", "gpustack", `^gpu-02$`, `IDLE\+DRAIN, want IDLE: fan 3 of PSU \[root@`,
		func(ctx context.Context, _ *testing.T, c cluster) error {
			return update(ctx, c, "NodeName=gpu-02", "State=DRAIN", "Reason=fan 3 of PSU")
		}, nil},
	{"prolog fails", "gpustack", `^gpu-03$`, `IDLE\+DRAIN, want IDLE: Prolog error`, hook("prolog", `[ "$SLURMD_NODENAME" != gpu-03 ] || exit 1`), unhook("prolog")},
	{"epilog fails", "gpustack", `^gpu-01$`, `IDLE\+DRAIN, want IDLE: Epilog error`, hook("epilog", `[ "$SLURMD_NODENAME" != gpu-01 ] || exit 1`), unhook("epilog")},
	{"partition inactive", "gpustack", `^partition batch$`, `is INACTIVE, want UP`, partition("INACTIVE"), partitionUp},
	{"partition down", "gpustack", `^partition batch$`, `is DOWN, want UP`, partition("DOWN"), partitionUp},
	{"slurmd dead", "gpustack", `^gpu-02$`, `DOWN\+NOT_RESPONDING, want IDLE: Not responding`,
		func(ctx context.Context, _ *testing.T, c cluster) error {
			c.Stop("gpu-02")
			return c.States(ctx, func(states []string) error {
				if states[1] != "DOWN+NOT_RESPONDING" {
					return fmt.Errorf("gpu-02 is %s", states[1])
				}
				return nil
			})
		}, func(ctx context.Context, c cluster) error { return c.StartNode(ctx, "gpu-02") }},
	{"fewer GPUs reported", "gpustack", `^gpu-01$`, `INVALID_REG, want IDLE: gres/gpu count reported lower than configured \(7 < 8\)`,
		settings(Settings{Reported: map[string]int{"gpu-01": 7}}, "INVALID_REG"), unset},
	{"fewer GPUs configured", "gpustack", `^gpu-03$`, `gpu-03 has the generic resources gpu:h100:7, want gpu:h100:8`,
		settings(Settings{Configured: map[string]int{"gpu-03": 7}, Reported: map[string]int{"gpu-03": 7}}, "IDLE"), unset},
	{"no prolog", "gpustack", `^slurm.conf Prolog$`, `no Prolog is configured`, settings(Settings{NoProlog: true}, "IDLE"), unset},
	{"no accounting", "telemetry", `^slurm.conf AccountingStorageType$`, `accounting storage is n.ne, want slurmdbd`, settings(Settings{NoAccounting: true}, "IDLE"), unset},
	{"GPUs not accounted for", "telemetry", `^slurm.conf AccountingStorageTRES$`, `has 0 GPUs, want 24: AccountingStorageTRES has no gres/gpu`, settings(Settings{NoGPURecords: true}, "IDLE"), unset},
	{"slurmdbd stopped", "telemetry", `^slurmdbd$`, `slurmdbd does not answer: sacct: error`,
		func(_ context.Context, _ *testing.T, c cluster) error { c.Stop("slurmdbd"); return nil }, func(ctx context.Context, c cluster) error { return c.StartSlurmdbd(ctx) }},
	{"slurmctld stopped", "gpustack", `^slurmctld `, `does not answer`,
		func(_ context.Context, _ *testing.T, c cluster) error { c.Stop("slurmctld"); return nil }, func(ctx context.Context, c cluster) error { return c.StartSlurmctld(ctx) }},
	{"data wrong on a node", "collective", `^gpu-02$`, `.`,
		func(_ context.Context, t *testing.T, c cluster) error {
			c.faults(t, world.Fault{Kind: "data-corruption", Target: "gpu-02"})
			return nil
		}, func(context.Context, cluster) error { return nil }},
	{"node without InfiniBand", "collective", `^gpu-03$`, `fell back to TCP sockets`,
		func(_ context.Context, t *testing.T, c cluster) error {
			c.faults(t, world.Fault{Kind: "tcp-fallback", Target: "gpu-03"})
			return nil
		}, nil},
	{"node lost under the collective", "collective", `^gpu-02$`, `gpu-02 failed under the collective: it is .*NOT_RESPONDING.*job \d+ is NODE_FAIL`,
		func(_ context.Context, _ *testing.T, c cluster) error {
			return c.Program("all_reduce_perf", "[ \"$SLURMD_NODENAME\" != gpu-03 ] || kill -9 \"$(cat "+c.path("slurmd-gpu-02.pid")+")\"\nexec sleep 600\n")
		}, func(ctx context.Context, c cluster) error {
			c.Stop("gpu-02")
			return c.StartNode(ctx, "gpu-02")
		}},
	{"loss is nan", "training", `^loss `, `nan`,
		func(_ context.Context, t *testing.T, c cluster) error {
			c.faults(t, world.Fault{Kind: "loss-nan", Target: "cluster"})
			return nil
		}, nil},
	{"GPU slow in training", "training", `^gpu-03/gpu5 `, `multiplies matrices at`,
		func(_ context.Context, t *testing.T, c cluster) error {
			c.faults(t, world.Fault{Kind: "gpu-slow-in-lockstep", Target: "gpu-03/gpu5"})
			return nil
		}, nil},
	{"trainer fails on a node", "training", `^gpu-02$`, `job \d+ is FAILED`,
		func(_ context.Context, _ *testing.T, c cluster) error {
			return c.Program("torchrun", "[ \"$SLURMD_NODENAME\" != gpu-02 ] || exit 3\nexec sleep 600\n")
		}, nil},
	{"node lost under the training", "training", `^gpu-02$`, `gpu-02 failed under the training: it is .*NOT_RESPONDING.*job \d+ is NODE_FAIL`,
		func(_ context.Context, _ *testing.T, c cluster) error {
			return c.Program("torchrun", "[ \"$SLURMD_NODENAME\" != gpu-03 ] || kill -9 \"$(cat "+c.path("slurmd-gpu-02.pid")+")\"\nexec sleep 600\n")
		}, func(ctx context.Context, c cluster) error {
			c.Stop("gpu-02")
			return c.StartNode(ctx, "gpu-02")
		}},
}

// quick are those of every change.
var quick = []string{"node drained", "prolog fails", "epilog fails", "partition inactive", "slurmdbd stopped", "node without InfiniBand", "loss is nan"}

var gates = []string{"gpustack", "telemetry", "collective", "training"}

// Gates 4 to 7 pass on a healthy Slurm cluster of real programs, and each fault fails its gate, naming what
// has it.
func TestGatesOverRealPrograms(t *testing.T) { //nolint:tparallel // the faults share a cluster
	t.Parallel()
	c := startCluster(t)
	suite.Admit(t)
	healthy := func(when string) {
		t.Helper()
		for _, name := range gates {
			if j := c.judge(t, name); j.Verdict != check.Passed || len(j.Findings) > 0 {
				t.Fatalf("%s, gate %s: %s (%s): %+v", when, name, j.Verdict, j.Reason, j.Findings)
			}
		}
	}
	healthy("healthy")
	requireUnknownNode(t, c)
	requireEnds(t, c)
	for _, f := range faults {
		if suite.Current() < suite.All && !slices.Contains(quick, f.name) {
			continue
		}
		t.Run(f.name, func(t *testing.T) { requireFault(t, c, f) })
	}
	healthy("after all faults")
}

// requireUnknownNode requires a failure for a node of the inventory that Slurm does not have.
func requireUnknownNode(t *testing.T, c cluster) {
	t.Helper()
	s := *c.site
	s.Inventory.Nodes = append(slices.Clone(s.Inventory.Nodes), site.Node{Name: "gpu-09"})
	c.site = &s
	if j := c.judge(t, "gpustack"); j.Verdict != check.Failed || len(j.Findings) != 1 || j.Findings[0].Message != "gpu-09 is not a node of the cluster" {
		t.Errorf("%s: %+v", j.Verdict, j.Findings)
	}
}

// requireEnds requires that a collective that was cancelled is not observed, and that one that crashes is a failure.
func requireEnds(t *testing.T, c cluster) {
	t.Helper()
	for script, want := range map[string]struct {
		verdict check.Verdict
		message string
	}{
		"scancel \"$SLURM_JOB_ID\"\nexec sleep 600\n": {check.Unobserved, `; job \d+ is CANCELLED`},
		"echo '# nThread 1'; kill -SEGV $$\n":         {check.Failed, `; job \d+ is FAILED`},
		"echo '# nThread 1'; kill -KILL $$\n":         {check.Failed, `; job \d+ is FAILED`},
	} {
		if err := c.Program("all_reduce_perf", script); err != nil {
			t.Fatal(err)
		}
		if j := c.judge(t, "collective"); j.Verdict != want.verdict || !regexp.MustCompile(want.message).MatchString(fmt.Sprint(j.Findings)) {
			t.Errorf("%q: %s: %+v", script, j.Verdict, j.Findings)
		}
	}
	c.faults(t)
}

// requireFault injects a fault, requires that its gate names what has it, and repairs the cluster.
func requireFault(t *testing.T, c cluster, f fault) {
	t.Helper()
	if err := f.inject(t.Context(), t, c); err != nil {
		t.Fatal(err)
	}
	j := c.judge(t, f.gate)
	if j.Verdict != check.Failed || len(j.Findings) != 1 && f.gate != "collective" && f.gate != "training" || !regexp.MustCompile(f.suspect).MatchString(j.Findings[0].Suspect) || !regexp.MustCompile(f.message).MatchString(j.Findings[0].Message) {
		t.Errorf("%s (%s), want a failure of %s alone, %s: %+v", j.Verdict, j.Reason, f.suspect, f.message, j.Findings)
	}
	c.faults(t)
	if f.repair != nil {
		if err := f.repair(t.Context(), c); err != nil {
			t.Fatalf("repair: %v", err)
		}
	}
	if err := c.Idle(t.Context()); err != nil {
		t.Fatalf("after the repair: %v", err)
	}
}
