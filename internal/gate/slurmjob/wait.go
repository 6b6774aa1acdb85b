package slurmjob

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/firstlight/firstlight/internal/probe/slurm"
	"github.com/firstlight/firstlight/internal/probe/ssh"
)

// interval is the time between two reads of a state.
const interval = 2 * time.Second

// waited is the last state of a job that was seen.
type waited struct {
	info slurm.JobInfo
	raw  []byte
	// problem is why the state was not reached: it still waits, runs, or its state cannot be read.
	problem string
	// timedOut is set if it ran longer than its time limit.
	timedOut bool
}

func (r Runner) run(ctx context.Context, argv ...string) (ssh.Output, error) {
	return r.Deps.Hosts.Run(ctx, r.Site.Slurm.Host(), argv...)
}

// begun is reached when a job has its nodes.
func begun(i slurm.JobInfo) bool { return !i.Waiting() }

// wait returns when a job has reached a state, or when that cannot be expected. The error is only for an ended context.
func (r Runner) wait(ctx context.Context, id string, j Job, reached func(slurm.JobInfo) bool) (waited, error) {
	limit := r.Site.Slurm.JobTimeout.D()
	var w waited
	submitted := r.Deps.Clock.Now()
	seen, began := submitted, time.Time{}
	for {
		info, raw, err := r.state(ctx, id)
		now := r.Deps.Clock.Now()
		switch {
		case ctx.Err() != nil:
			return w, fmt.Errorf("wait for job %s: %w", id, ctx.Err())
		case err != nil:
			if now.Sub(seen) > limit {
				w.problem = fmt.Sprintf("the state of job %s cannot be read: %v", id, err)
				return w, nil
			}
		default:
			seen, w.info, w.raw = now, info, raw
			if began.IsZero() && begun(info) {
				began = now
			}
			w.problem, w.timedOut = unexpected(info, now.Sub(submitted) > limit, !began.IsZero() && now.Sub(began) > j.Timeout+limit)
			if reached(info) || w.problem != "" {
				return w, nil
			}
		}
		if err := r.Deps.Wait(ctx, interval); err != nil {
			return w, fmt.Errorf("wait for job %s: %w", id, err)
		}
	}
}

// unexpected is why the end of a job is not waited for; late: it should have begun, over: it should have ended.
func unexpected(i slurm.JobInfo, late, over bool) (problem string, timedOut bool) {
	state := i.State
	if i.Reason != "" {
		state += " (" + i.Reason + ")"
	}
	switch {
	case i.Restarts > 0 || slices.Contains([]string{"REQUEUED", "REQUEUE_HOLD", "REQUEUE_FED", "SPECIAL_EXIT"}, i.State):
		return fmt.Sprintf("job %s was requeued, and its output is not that of one run: it is %s after %d restarts", i.Job, state, i.Restarts), false
	case i.Waiting() && late:
		return fmt.Sprintf("job %s did not begin in time: it is %s", i.Job, state), false
	case i.Suspended:
		return fmt.Sprintf("job %s was suspended, and its times are not those of its nodes: it is %s", i.Job, state), false
	case !i.Ended() && over:
		return fmt.Sprintf("job %s is still %s after its time limit", i.Job, state), true
	default:
		return "", false
	}
}

func (r Runner) state(ctx context.Context, id string) (slurm.JobInfo, []byte, error) {
	out, err := r.run(ctx, slurm.JobCommand(id)...)
	if err == nil && out.Exit != 0 {
		err = fmt.Errorf("scontrol exited with code %d: %.200q", out.Exit, bytes.TrimSpace(slices.Concat(out.Stderr, out.Stdout)))
	}
	if err != nil {
		return slurm.JobInfo{}, nil, err
	}
	info, err := slurm.ParseJob(out.Stdout)
	return info, out.Stdout, err
}
