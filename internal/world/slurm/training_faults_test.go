package slurm

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/gate/onhost"
	"github.com/firstlight/firstlight/internal/gate/training"
	"github.com/firstlight/firstlight/internal/plan"
	"github.com/firstlight/firstlight/internal/probe/ssh"
	"github.com/firstlight/firstlight/internal/site"
	"github.com/firstlight/firstlight/internal/suite"
	"github.com/firstlight/firstlight/internal/world"
)

// sbatch is the login host of a cluster without daemons: it runs the batch script of job 7 on this machine, with a
// stand-in for srun that runs the tasks one after the other.
type sbatch struct {
	dir, bin string
	output   []byte
	exit     int
}

const standIn = `while [ "$1" != env ]; do shift; done
worst=0
for i in 0 1 2; do
  export SLURM_NODEID=$i SLURMD_NODENAME=gpu-0$((i+1))
  { "$@" 2>&1; echo $? > "$CODE"; } | sed "s/^/$i: /"
  read -r code < "$CODE"; [ "$code" = 0 ] || worst=$code
done
exit $worst
`

func (h *sbatch) Run(ctx context.Context, _ string, argv ...string) (ssh.Output, error) {
	state := "COMPLETED"
	if h.exit != 0 {
		state = "FAILED"
	}
	switch argv[0] {
	case "sbatch":
		wrap, _ := strings.CutPrefix(argv[len(argv)-1], "--wrap=")
		cmd := exec.CommandContext(ctx, "/bin/sh", "-c", wrap)
		cmd.Env = []string{"PATH=" + h.bin + ":/usr/bin:/bin", "SLURM_JOB_ID=7", "SLURM_GPUS_ON_NODE=8", "CODE=" + filepath.Join(h.dir, "code")}
		var err error
		h.output, err = cmd.CombinedOutput()
		if exited, ok := errors.AsType[*exec.ExitError](err); ok {
			h.exit, err = exited.ExitCode(), nil
		}
		return ssh.Output{Stdout: []byte("7\n")}, err
	case "scontrol":
		if argv[2] == "nodes" { // all of them are idle
			return ssh.Output{Stdout: []byte("NodeName=gpu-01 Gres=gpu:h100:8 State=IDLE\n")}, nil
		}
		return ssh.Output{Stdout: fmt.Appendf(nil, "JobId=7 JobName=firstlight-training-t1 JobState=%s Reason=None Dependency=(null) Restarts=0 ExitCode=%d:0 BatchHost=gpu-01 NumNodes=3 NumCPUs=24\n", state, h.exit)}, nil
	case "sacct":
		return ssh.Output{Stdout: fmt.Appendf(nil, "7|%s|%d:0|3|gres/gpu=24,node=3|firstlight-training-t1\n", state, h.exit)}, nil
	default:
		return ssh.Output{Stdout: h.output}, nil
	}
}

// train runs gate training in a world with a fault; broken replaces torchrun.
func train(t *testing.T, broken string, faults ...world.Fault) check.Judgement {
	t.Helper()
	c := &Cluster{dir: t.TempDir()}
	if err := os.Mkdir(c.path("bin"), 0o700); err != nil {
		t.Fatal(err)
	}
	programs := map[string]string{"srun": standIn, "scontrol": "printf 'gpu-01\\ngpu-02\\ngpu-03\\n'\n"}
	if broken != "" {
		programs["torchrun"] = broken
	}
	if err := c.Programs(nodes, faults); err != nil {
		t.Fatal(err)
	}
	for name, text := range programs {
		if err := c.Program(name, text); err != nil {
			t.Fatal(err)
		}
	}
	s, p := slurmSite(t)
	s.Slurm.OutputDirectory, s.Slurm.Setup = c.dir, c.Setup()
	s.Workloads.Training.Checkpoint = &site.Checkpoint{Directory: "/mnt/checkpoints", SizeGiB: 16}
	g := training.NewSbatch(s, p, onhost.Deps{Hosts: &sbatch{dir: c.dir, bin: c.path("bin")}}, "t1")
	var b book
	if err := g.Observe(t.Context(), &b); err != nil {
		t.Fatal(err)
	}
	return plan.Judge(g, b.obs)
}

// trainingFaults is the name of TestTrainingFaults in the manifest.
const trainingFaults = "internal/world/slurm TestTrainingFaults"

// A healthy training passes, and each fault fails the gate, naming the suspect.
func TestTrainingFaults(t *testing.T) {
	t.Parallel()
	if j := train(t, ""); j.Verdict != check.Passed || len(j.Findings) > 0 {
		t.Fatalf("healthy: %s: %s: %+v", j.Verdict, j.Reason, j.Findings)
	}
	for _, kind := range []string{"loss-nan", "gpu-slow-in-lockstep", "checkpoint-read-only"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			suite.RequireFault(t, trainingFaults, kind)
			i := slices.IndexFunc(world.Catalogue(), func(k world.FaultKind) bool { return k.Kind == kind })
			f := world.Fault{Kind: kind, Target: world.Catalogue()[i].DefaultTarget}
			w, err := newWorld(nil)
			if err != nil {
				t.Fatal(err)
			}
			suspect, err := w.SuspectPattern(f)
			if err != nil {
				t.Fatal(err)
			}
			if j := train(t, "", f); j.Verdict != check.Failed || !suspect.MatchString(j.Findings[0].Suspect) || j.Findings[0].Remedy == "" {
				t.Errorf("%s: %s, want suspect %s: %+v", j.Verdict, j.Reason, suspect, j.Findings)
			}
		})
	}
	t.Run("trainer fails on a node", func(t *testing.T) {
		t.Parallel()
		j := train(t, "[ \"$SLURMD_NODENAME\" != gpu-02 ] || exit 3\n")
		if j.Verdict != check.Failed || j.Findings[0].Suspect != "gpu-02" || !regexp.MustCompile(`job 7 is FAILED, exit code 3:0`).MatchString(j.Findings[0].Message) {
			t.Errorf("%s: %s: %+v", j.Verdict, j.Reason, j.Findings)
		}
	})
}
