package slurmjob

import (
	"context"
	"fmt"
	"regexp"
	"slices"

	"github.com/firstlight/firstlight/internal/probe/slurm"
)

// Last is the state of the last job of a name, which srun has started, once it has ended with its epilog, or
// JobTimeout later: srun's exit code does not distinguish a failure from a cancelled or preempted job.
func (r Runner) Last(ctx context.Context, name string) (slurm.JobState, error) {
	began := r.Deps.Clock.Now()
	for {
		out, err := r.run(ctx, slurm.StatesCommand(name)...)
		if err == nil && out.Exit != 0 {
			err = problemOf("squeue", out, nil)
		}
		var s slurm.JobState
		if err == nil {
			s, err = slurm.ParseLastState(out.Stdout)
		}
		switch {
		case err != nil:
			return s, fmt.Errorf("read the state of job %s: %w", name, err)
		case s.Ended() || r.Deps.Clock.Now().Sub(began) > r.Site.Slurm.JobTimeout.D():
			return s, nil
		}
		if err := r.Deps.Wait(ctx, interval); err != nil {
			return s, fmt.Errorf("wait for the end of job %s: %w", name, err)
		}
	}
}

// nodeFailure is srun's line about a node that slurmctld has found dead.
var nodeFailure = regexp.MustCompile(`srun: error: Node failure on (\S+)`)

// Lost are the nodes of a job that failed while it ran, with their states: slurmctld starts no job on a
// node that is down. stderr is that of srun.
func (r Runner) Lost(ctx context.Context, names []string, stderr string) map[string]string {
	lost := map[string]string{}
	for _, m := range nodeFailure.FindAllStringSubmatch(stderr, -1) {
		if slices.Contains(names, m[1]) {
			lost[m[1]] = m[0]
		}
	}
	nodes, err := r.Nodes(ctx, names)
	if err != nil { // those of srun remain
		return lost
	}
	for _, n := range nodes {
		if n.State != "DOWN" && !n.Has("NOT_RESPONDING") {
			continue
		}
		state := stateOf(n)
		if n.Reason != "" {
			state += ": " + n.Reason
		}
		lost[n.Name] = state
	}
	return lost
}
