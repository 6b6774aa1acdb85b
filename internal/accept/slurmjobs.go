package accept

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/firstlight/firstlight/internal/probe/slurm"
)

// cancelLeft cancels the jobs that killed runs left on a Slurm cluster: they hold all nodes until their time
// limit. Without an answer there is a note: the gates see nodes in use.
func (x *execution) cancelLeft(ctx context.Context) {
	for _, run := range x.leftJobs {
		if err := x.cancelJobs(ctx, run); err != nil {
			x.note("jobs of killed run %s were not cancelled, look for them with squeue --me: %v", run, err)
		}
	}
}

// cancelOwn cancels the jobs of this run that a gate could not cancel.
func (x *execution) cancelOwn(ctx context.Context) error {
	if !x.submitted.Load() || x.opts.Keep || x.lostTo() != nil {
		return nil // the process that took over the run cleans up
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanupTimeout)
	defer cancel()
	if err := x.cancelJobs(ctx, x.run.ID()); err != nil {
		return fmt.Errorf("jobs of run %s may be left; list them with squeue --me, and cancel those whose names end with it: %w", x.run.ID(), err)
	}
	return nil
}

func (x *execution) cancelJobs(ctx context.Context, run string) error {
	out, err := x.slurm(ctx, slurm.QueueCommand()...)
	if err != nil {
		return err
	}
	jobs, err := slurm.ParseQueue(out)
	if err != nil {
		return err
	}
	cancel := []string{"scancel"}
	for _, j := range jobs {
		if strings.HasPrefix(j.Name, "firstlight-") && strings.HasSuffix(j.Name, "-"+run) {
			cancel = append(cancel, j.ID)
		}
	}
	if len(cancel) == 1 {
		return nil
	}
	if _, err := x.slurm(ctx, cancel...); err != nil && !x.ended(ctx, cancel[1:]) {
		return err
	}
	x.note("cancelled jobs of run %s: %s", run, strings.Join(cancel[1:], ", "))
	return nil
}

// ended reports whether none of the jobs is listed: scancel fails for a job that ends before it.
func (x *execution) ended(ctx context.Context, ids []string) bool {
	out, err := x.slurm(ctx, slurm.QueueCommand()...)
	if err != nil {
		return false
	}
	jobs, err := slurm.ParseQueue(out)
	return err == nil && !slices.ContainsFunc(jobs, func(j slurm.Job) bool { return slices.Contains(ids, j.ID) })
}

// slurm runs a command of Slurm. An exit code other than 0 is an error.
func (x *execution) slurm(ctx context.Context, argv ...string) ([]byte, error) {
	out, err := x.opts.Slurm(ctx, argv...)
	if err == nil && out.Exit != 0 {
		err = fmt.Errorf("exit code %d: %.200q", out.Exit, bytes.TrimSpace(out.Stderr))
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", argv[0], err)
	}
	return out.Stdout, nil
}
