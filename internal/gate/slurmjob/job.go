package slurmjob

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/firstlight/firstlight/internal/gate/onhost"
	"github.com/firstlight/firstlight/internal/probe/slurm"
	"github.com/firstlight/firstlight/internal/probe/ssh"
	"github.com/firstlight/firstlight/internal/site"
)

// Job is a batch job with one task on each of its nodes.
type Job struct {
	// Gate is part of the job's name.
	Gate  string
	Nodes []string
	// GPUs of each node.
	GPUs int
	// Script is run by bash -ec on each node, with Env, and with the index of the node in the job as
	// JOB_COMPLETION_INDEX and the names of all nodes, in the order of the index, as HOSTS.
	Script string
	Env    map[string]string
	// Image is that of the tasks' containers; empty: none. Mounts are directories of the host in them, by the path
	// inside.
	Image  string
	Mounts map[string]string
	// Timeout is the job's time limit.
	Timeout time.Duration
}

// Runner runs jobs.
type Runner struct {
	Deps  onhost.Deps
	Site  *site.Site
	RunID string
}

// Name is that of a gate's job.
func Name(gate, runID string) string { return strings.TrimSuffix("firstlight-"+gate+"-"+runID, "-") }

func (r Runner) name(j Job) string { return Name(j.Gate, r.RunID) }

// output is the path of a job's output on the batch host; sbatch replaces the ID %j.
func (r Runner) output(j Job, id string) string {
	return r.Site.Slurm.OutputDirectory + "/" + r.name(j) + "-" + id + ".out"
}

// Submit is the command that submits the job, without its batch script.
func (r Runner) Submit(j Job) []string {
	return append(r.Site.SbatchCommand(r.name(j), j.Nodes, j.GPUs, j.Timeout), "--chdir="+r.Site.Slurm.OutputDirectory, "--output="+r.output(j, "%j"))
}

// DescribeSubmit are the commands of a job that runs a program, until it has begun.
func (r Runner) DescribeSubmit(j Job, program string) []string {
	step := r.step(j)
	return []string{
		"on " + r.Site.Slurm.Host() + ": " + strings.Join(slurm.NodesCommand(j.Nodes), " ") + "; nothing else if one of them runs jobs",
		"on " + r.Site.Slurm.Host() + ": " + ssh.Quote(r.Submit(j)),
		"in the job: " + ssh.Quote(step[:len(step)-len(taskCommand(""))]) + " " + program,
	}
}

// Describe are the commands of a job that runs a program.
func (r Runner) Describe(j Job, program string) []string {
	return append(r.DescribeSubmit(j, program),
		strings.Join(slurm.JobCommand("JOB"), " ")+", until the job has ended",
		"read the job's output there, or through srun on its first node, and delete its file")
}

func (r Runner) command(j Job) []string { return append(r.Submit(j), "--wrap="+r.batchScript(j)) }

// taskCommand runs the script of a job in a task.
func taskCommand(script string) []string { return []string{"bash", "-c", taskScript, script} }

// The marks of the output.
const (
	taskMark  = "firstlight-task"
	batchMark = "firstlight-batch"
)

// taskScript is what a task runs; $0 is the job's script. The marks show that the output of the task is complete; the
// first one has the time of its node in seconds.
const taskScript = `printf '` + taskMark + ` begin %s %s %s\n' "$SLURM_NODEID" "$SLURMD_NODENAME" "$(date +%s)"
JOB_COMPLETION_INDEX="$SLURM_NODEID" bash -ec "$0"; code=$?
printf '\n` + taskMark + ` end %s %s\n' "$SLURM_NODEID" "$code"
exit "$code"`

// batchScript starts the tasks. srun labels each line with the task's number. Files of earlier jobs of the run are
// of a killed process.
func (r Runner) batchScript(j Job) string {
	var b strings.Builder
	if r.RunID != "" {
		fmt.Fprintf(&b, "for f in %s; do [ \"$f\" = %q ] || rm -f \"$f\"; done\n", r.output(j, "*"), r.output(j, "$SLURM_JOB_ID"))
	}
	b.WriteString("HOSTS=\"$(scontrol show hostnames \"$SLURM_JOB_NODELIST\" | tr '\\n' ' ')\"; export HOSTS\n")
	fmt.Fprintf(&b, "%s\ncode=$?\nprintf '\\n%s end %%s %%s\\n' \"$SLURM_JOB_ID\" \"$code\"\nexit \"$code\"\n", ssh.Quote(r.step(j)), batchMark)
	return b.String()
}

// step starts a task on each node of the job.
func (r Runner) step(j Job) []string {
	argv := []string{"srun", fmt.Sprintf("--nodes=%d", len(j.Nodes)), fmt.Sprintf("--ntasks=%d", len(j.Nodes)), "--ntasks-per-node=1", "--cpu-bind=none", "--label", "--kill-on-bad-exit=1"}
	if j.Image != "" {
		argv = append(argv, "--container-image="+j.Image)
		var mounts []string
		for _, inside := range slices.Sorted(maps.Keys(j.Mounts)) {
			mounts = append(mounts, j.Mounts[inside]+":"+inside)
		}
		if len(mounts) > 0 {
			argv = append(argv, "--container-mounts="+strings.Join(mounts, ","))
		}
	}
	argv = append(argv, "env")
	for _, name := range slices.Sorted(maps.Keys(j.Env)) {
		argv = append(argv, name+"="+j.Env[name])
	}
	script := j.Script
	if setup := r.Site.Slurm.Setup; setup != "" {
		script = setup + "\n" + script
	}
	return append(argv, taskCommand(script)...)
}
