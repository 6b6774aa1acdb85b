package slurm

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/gate/onhost"
	"github.com/firstlight/firstlight/internal/gate/slurmjob"
	"github.com/firstlight/firstlight/internal/probe/guard"
	"github.com/firstlight/firstlight/internal/probe/slurm"
	"github.com/firstlight/firstlight/internal/probe/ssh"
)

// jobFigures are those of a job with one task on each node.
type jobFigures struct {
	// Job is its ID; empty if no task has run.
	Job   string    `json:"job,omitempty"`
	Exit  int       `json:"exit"`
	Tasks []jobTask `json:"tasks"`
	// Problem are the last lines of srun about a failure; empty with exit code 0.
	Problem string `json:"problem,omitempty"`
	// State is the end of the job as Slurm has it, of a job whose srun has failed; empty: not known.
	State string `json:"state,omitempty"`
	// TimedOut is set if srun was ended after its time.
	TimedOut bool `json:"timedOut,omitempty"`
}

type jobTask struct {
	Node string `json:"node"`
	// GPUs are SLURM_GPUS_ON_NODE: those of the job on the node.
	GPUs int `json:"gpus"`
	// Enroot is its version; empty where it is not installed.
	Enroot string `json:"enroot,omitempty"`
}

const taskMark = "firstlight-task"

// script prints what a task sees: node, job, GPUs, version of enroot.
const script = `echo "` + taskMark + ` $SLURMD_NODENAME $SLURM_JOB_ID ${SLURM_GPUS_ON_NODE:-0} $(enroot version 2>/dev/null || echo -)"`

func (g *base) jobName(gate string) string {
	return slurmjob.Name(gate, g.deps.RunID)
}

// jobCommand is a job of one task on each node of the inventory, with all GPUs.
func (g *base) jobCommand(gate string) []string {
	timeout := g.site.Slurm.JobTimeout.D()
	argv := g.site.SrunCommand(g.jobName(gate), g.site.NodeNames(), g.gpus(), timeout)
	return append(argv, "--ntasks-per-node=1", "--immediate="+strconv.Itoa(max(1, int(timeout.Seconds()))), "sh", "-c", script)
}

// runJob runs a job and records it.
func (g *base) runJob(ctx context.Context, rec check.Recorder, gate string) (jobFigures, error) {
	argv := g.jobCommand(gate)
	rec.Progress("a job on %d nodes", len(g.site.Inventory.Nodes))
	attempt := g.observer(rec).Begin(kindJob, g.host(), ssh.Quote(argv))
	running, cancel := context.WithTimeout(ctx, 2*g.site.Slurm.JobTimeout.D()+time.Minute)
	defer cancel()
	out, err := g.deps.Hosts.Run(running, g.host(), argv...)
	attempt = attempt.Raw(onhost.Raw(out)).From(out.Origin)
	var left error // why the job may still run
	if err != nil || running.Err() != nil {
		left = slurm.Cancel(ctx, func(ctx context.Context, argv ...string) (ssh.Output, error) {
			return g.deps.Hosts.Run(ctx, g.host(), argv...)
		}, g.jobName(gate))
	}
	var f jobFigures
	switch {
	case ctx.Err() != nil:
		return f, errors.Join(fmt.Errorf("run a job: %w", ctx.Err()), left)
	case running.Err() != nil:
		f.TimedOut, f.Problem = true, "it still ran after its time"
		if left != nil {
			f.Problem += "; " + left.Error()
		}
	case err != nil:
		return f, attempt.Record(nil, errors.Join(err, left))
	default:
		if f, err = parseJob(out); err != nil {
			return f, attempt.Record(nil, err)
		}
		attempt = attempt.Exit(out.Exit)
		if out.Exit != 0 && !givenUp.Match(out.Stderr) {
			last, _ := g.runner().Last(ctx, g.jobName(gate)) // without a state, srun's exit code remains
			f.State = last.State
		}
	}
	return f, attempt.Record(f, nil)
}

// givenUp matches what srun prints when it cancels its job itself, because nodes do not start it (seen with 22.05).
var givenUp = regexp.MustCompile(`srun: (?:error: )?(?:Prolog failure|Something is wrong with the boot|Nodes? \S+ (?:is|are) still not ready)`)

// exitNotFound is a shell's exit code for a program that it does not find.
const exitNotFound = 127

func parseJob(out ssh.Output) (jobFigures, error) {
	return guard.Parse("srun", func() (jobFigures, error) {
		f := jobFigures{Exit: out.Exit, Tasks: []jobTask{}}
		for line := range bytes.Lines(out.Stdout) {
			words := strings.Fields(string(line))
			if len(words) == 0 || words[0] != taskMark {
				continue
			}
			if len(words) < 5 {
				return f, fmt.Errorf("unexpected line %.120q", line)
			}
			gpus, err := strconv.Atoi(words[3])
			if err != nil || gpus < 0 || f.Job != "" && f.Job != words[2] {
				return f, fmt.Errorf("unexpected line %.120q", line)
			}
			f.Job = words[2]
			f.Tasks = append(f.Tasks, jobTask{Node: words[1], GPUs: gpus, Enroot: strings.TrimPrefix(words[len(words)-1], "-")})
		}
		if out.Exit == exitNotFound && f.Job == "" {
			return f, fmt.Errorf("srun: %s", slurmjob.FirstLines(out))
		}
		if out.Exit != 0 {
			f.Problem = slurmjob.FirstLines(out)
		}
		return f, nil
	})
}
