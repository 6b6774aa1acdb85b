package training

import (
	"context"
	"errors"
	"strings"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/evidence/chart"
	"github.com/firstlight/firstlight/internal/gate/gangjob"
	"github.com/firstlight/firstlight/internal/gate/onhost"
	"github.com/firstlight/firstlight/internal/gate/slurmjob"
	probe "github.com/firstlight/firstlight/internal/probe/slurm"
	"github.com/firstlight/firstlight/internal/probe/ssh"
	"github.com/firstlight/firstlight/internal/profile"
	"github.com/firstlight/firstlight/internal/site"
	"github.com/firstlight/firstlight/internal/workload"
)

// Kinds of the observations of a job of Slurm, in addition to those of a gang of pods.
const (
	// KindState is its last state.
	KindState = "scontrol-job"
	// KindNodes are its nodes, after one of them has failed.
	KindNodes = "scontrol-nodes"
)

// nodeFail is the state of a job that ended because a node failed.
const nodeFail = "NODE_FAIL"

// Sbatch is gate 7 of a Slurm cluster: the same job, submitted by sbatch, with a task on each node. Its output is
// judged as that of pods; its state and its accounting record must agree with it.
type Sbatch struct {
	gate   *Gate
	runner slurmjob.Runner
}

// NewSbatch returns the gate; deps may be zero for a gate that only judges.
func NewSbatch(s *site.Site, p *profile.Profile, deps onhost.Deps, runID string) *Sbatch {
	b := &Sbatch{gate: New(s, p, Deps{Clock: deps.Clock}), runner: slurmjob.Runner{Deps: deps.WithDefaults(), Site: s, RunID: runID}}
	b.gate.batch = b
	return b
}

// Name implements check.Check.
func (b *Sbatch) Name() string { return Name }

// Claims is the number of GPUs that the gate uses.
func (b *Sbatch) Claims() int { return b.gate.Claims() }

// Lowered implements plan.Lowers.
func (b *Sbatch) Lowered() []string {
	return append(b.gate.Lowered(), b.gate.site.LoweredSlurm(site.WithoutAccounting)...)
}

// Charts draws the steps.
func (b *Sbatch) Charts(obs []check.Observation) []chart.Chart { return b.gate.Charts(obs) }

// Excluding implements plan.Excluding.
func (b *Sbatch) Excluding(nodes []string) check.Check {
	return NewSbatch(b.gate.site.Without(nodes), b.gate.profile, b.runner.Deps, b.runner.RunID)
}

// Describe lists the commands of Observe.
func (b *Sbatch) Describe() []string {
	out := b.runner.Describe(b.job(b.gate.spec()), b.gate.trainer())
	if b.accounting() {
		out = append(out, strings.Join(probe.RecordCommand("JOB"), " ")+", until the record is complete")
	}
	return out
}

func (b *Sbatch) accounting() bool {
	return len(b.gate.site.LoweredSlurm(site.WithoutAccounting)) == 0
}

// job is the job of the pods as one of Slurm.
func (b *Sbatch) job(spec workload.Spec) slurmjob.Job {
	s := b.gate.site
	j := slurmjob.Job{Gate: Name, Nodes: spec.Nodes[:spec.Pods], GPUs: spec.GPUs, Script: spec.Script, Env: spec.Env, Timeout: s.Workloads.Training.Timeout.D()}
	if s.Slurm.Containers == site.ContainersPyxis {
		j.Image = spec.Image
	}
	switch {
	case spec.HostDirectory == "":
	case j.Image != "":
		j.Mounts = map[string]string{workload.HostMount: spec.HostDirectory}
	default:
		j.Env["CHECKPOINT_DIRECTORY"] = spec.HostDirectory
	}
	return j
}

// Observe implements check.Check.
func (b *Sbatch) Observe(ctx context.Context, rec check.Recorder) error {
	if b.runner.Deps.Hosts == nil {
		return errors.New("observe the training: hosts must be set")
	}
	spec := b.gate.spec()
	attempt := b.gate.deps.Observer(rec).Begin(KindState, b.gate.site.Slurm.Host(), strings.Join(probe.JobCommand("JOB"), " "))
	var result slurmjob.Result
	err := b.gate.observe(rec, spec, func() (gangjob.Outcome, []gangjob.Log, error) {
		var err error
		result, err = b.runner.Run(ctx, b.job(spec))
		return result.Outcome, result.Logs, err
	})
	if err != nil || result.State.Job == "" {
		return err
	}
	if err := attempt.Raw(result.Raw).Record(result.State, nil); err != nil {
		return err
	}
	switch {
	case result.State.State == nodeFail:
		argv := probe.NodesCommand(spec.Nodes[:spec.Pods])
		_, err := b.runner.Deps.Run(ctx, rec, KindNodes, b.gate.site.Slurm.Host(), argv, func(out ssh.Output) (any, error) {
			return probe.ReadNodes(out.Stdout, out.Stderr, out.Exit)
		})
		return err
	case result.Outcome.Succeeded && b.accounting():
		return b.runner.ObserveRecord(ctx, rec, Name, result.State.Job)
	default:
		return nil
	}
}

// Judge implements check.Check.
func (b *Sbatch) Judge(obs []check.Observation) check.Judgement { return b.gate.Judge(obs) }
