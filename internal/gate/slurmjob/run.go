package slurmjob

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/firstlight/firstlight/internal/gate/gangjob"
	"github.com/firstlight/firstlight/internal/probe/slurm"
)

// State is the last state of a job.
type State struct {
	// Submitted is the name that the job was submitted with.
	Submitted string `json:"submitted"`
	slurm.JobInfo
}

// Result is a job and its end.
type Result struct {
	// State is its last state, Raw scontrol's output with it; empty for a job whose state was never seen.
	State State
	Raw   []byte
	// Outcome and Logs are those of the job's tasks, in the order of their numbers, as of a gang of pods.
	Outcome gangjob.Outcome
	Logs    []gangjob.Log
}

// Run submits a job, waits for its end, reads its output and deletes it. A job that has not ended is cancelled. The
// error is only for an ended context.
func (r Runner) Run(ctx context.Context, j Job) (Result, error) {
	id, err := r.submit(ctx, j)
	if err != nil {
		return Result{Outcome: notRun("%v", r.cancelled(ctx, j, err))}, ctx.Err()
	}
	w, err := r.wait(ctx, id, j, slurm.JobInfo.Ended)
	out := Result{State: State{Submitted: r.name(j), JobInfo: w.info}, Raw: w.raw}
	switch {
	case err != nil:
		return out, r.cancelled(ctx, j, err)
	case w.problem != "":
		out.Outcome = notRun("%v", r.cancelled(ctx, j, errors.New(w.problem)))
		if w.timedOut {
			out.Outcome.Ended = gangjob.EndedTimeout
		}
		return out, nil
	}
	raw, left, unread := r.read(ctx, j, id, w.info.BatchHost)
	if ctx.Err() != nil {
		return out, fmt.Errorf("read the output of job %s: %w", id, ctx.Err())
	}
	p, err := parse(raw, id, len(j.Nodes))
	out.Outcome = outcome(j, w.info, p, errors.Join(unread, err))
	if left != nil {
		out.Outcome.Leftover = left.Error()
	}
	out.Logs = p.logs(out.Outcome.Succeeded)
	for _, log := range out.Logs {
		out.Outcome.Pods = append(out.Outcome.Pods, log.Pod)
	}
	return out, nil
}

// submit returns the ID of a new job.
func (r Runner) submit(ctx context.Context, j Job) (string, error) {
	if _, err := r.Free(ctx, j.Nodes); err != nil {
		return "", fmt.Errorf("the job was not submitted: %w", err)
	}
	out, err := r.run(ctx, r.command(j)...)
	if err != nil || out.Exit != 0 {
		return "", fmt.Errorf("the job was not submitted: %w", problemOf("sbatch", out, err))
	}
	return slurm.ParseSubmitted(out.Stdout)
}

// cancelled cancels the job, which may have been submitted, and returns why, with the error of the cancellation.
func (r Runner) cancelled(ctx context.Context, j Job, why error) error {
	if err := slurm.Cancel(ctx, r.run, r.name(j)); err != nil {
		return fmt.Errorf("%w; %w", why, err)
	}
	return why
}

func notRun(format string, args ...any) gangjob.Outcome {
	return gangjob.Outcome{Ended: gangjob.EndedNotRun, Problem: fmt.Sprintf(format, args...)}
}

var unrelated = []string{"CANCELLED", "DEADLINE", "PREEMPTED", "REVOKED"}

// Unrelated reports whether a state is the end of a job that says nothing of its nodes: a person or the scheduler
// ended it.
func Unrelated(state string) bool { return slices.Contains(unrelated, state) }

// endOf is the end of a job, for people.
func endOf(i slurm.JobInfo) string {
	end := fmt.Sprintf("job %s is %s, exit code %s", i.Job, i.State, i.Exit)
	if i.Reason != "" {
		end += " (" + i.Reason + ")"
	}
	return end
}

// outcome is the end of a job that has ended. unread is why its output is not known.
func outcome(j Job, i slurm.JobInfo, p printed, unread error) gangjob.Outcome {
	end := endOf(i)
	const most = 4
	if n := len(p.messages); n > 0 {
		end += ": " + strings.Join(p.messages[max(0, n-most):], " | ")
	}
	if unread != nil {
		end += "; its output is unknown: " + unread.Error()
	}
	switch unstarted := p.unstarted(); {
	case Unrelated(i.State):
		return notRun("%s", end)
	case i.State == "FAILED" && unstarted != "":
		return notRun("%s; a container was not started: %s", endOf(i), unstarted)
	case i.State == "TIMEOUT" && j.Image != "" && unread == nil && slices.ContainsFunc(p.tasks, func(t task) bool { return t.node == "" }):
		return notRun("%s; not all tasks have begun: the image may still have been imported on a node (use a squashfs file on a shared file system, or raise the timeout)", end)
	case i.State == "TIMEOUT":
		return gangjob.Outcome{Ended: gangjob.EndedTimeout, Problem: end}
	case i.State != "COMPLETED":
		return gangjob.Outcome{Ended: gangjob.EndedDone, Problem: end}
	case unread != nil:
		return notRun("%s", end)
	case p.exit == nil:
		return notRun("%s: its output has no end", end)
	case i.Exit != "0:0" || *p.exit != 0 || slices.ContainsFunc(p.tasks, func(t task) bool { return t.exit != nil && *t.exit != 0 }):
		return gangjob.Outcome{Ended: gangjob.EndedDone, Problem: fmt.Sprintf("%s, and its output ends with exit code %d", end, *p.exit)}
	default:
		return gangjob.Outcome{Ended: gangjob.EndedDone, Succeeded: true}
	}
}
