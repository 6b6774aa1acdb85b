package slurmjob

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/firstlight/firstlight/internal/probe/slurm"
)

// Nodes are nodes as slurmctld sees them now; names that no node has are left out.
func (r Runner) Nodes(ctx context.Context, names []string) ([]slurm.Node, error) {
	argv := slurm.NodesCommand(names)
	out, err := r.run(ctx, argv...)
	var nodes []slurm.Node
	if err == nil {
		nodes, err = slurm.ReadNodes(out.Stdout, out.Stderr, out.Exit)
	}
	if err != nil {
		return nil, fmt.Errorf("read the states of the nodes: %w", err)
	}
	return nodes, nil
}

// Free returns the nodes once none of them completes a job, at most JobTimeout later. It is an error if a job of
// others runs on one of them: with PreemptType a job of the gate could end it, and srun --immediate does not prevent
// that. A node that is down is free; Slurm refuses the job.
func (r Runner) Free(ctx context.Context, names []string) ([]slurm.Node, error) {
	return r.free(ctx, names, slurm.Node.Completes)
}

// freeLater is Free for a job of a second: it also waits for the jobs of others.
func (r Runner) freeLater(ctx context.Context, names []string) error {
	_, err := r.free(ctx, names, func(n slurm.Node) bool { return n.Completes() || n.InUse() })
	return err
}

func (r Runner) free(ctx context.Context, names []string, temporary func(slurm.Node) bool) ([]slurm.Node, error) {
	began := r.Deps.Clock.Now()
	for {
		nodes, err := r.Nodes(ctx, names)
		if err != nil {
			return nil, err
		}
		late := r.Deps.Clock.Now().Sub(began) > r.Site.Slurm.JobTimeout.D()
		busy := slices.IndexFunc(nodes, func(n slurm.Node) bool { return (n.InUse() || n.Completes()) && (late || !temporary(n)) })
		switch {
		case busy >= 0:
			n := nodes[busy]
			return nil, fmt.Errorf("%s is %s: it runs jobs, which a job of the gate could preempt; wait for their end, or reserve the nodes (slurm.reservation)", n.Name, stateOf(n))
		case !slices.ContainsFunc(nodes, temporary):
			return nodes, nil
		}
		if err := r.Deps.Wait(ctx, interval); err != nil {
			return nil, fmt.Errorf("wait for the nodes: %w", err)
		}
	}
}

// stateOf is the state of a node with its flags.
func stateOf(n slurm.Node) string { return strings.Join(append([]string{n.State}, n.Flags...), "+") }
