package training

import (
	"context"
	"fmt"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/gate/gangjob"
)

// Observe implements check.Check.
func (g *Gate) Observe(ctx context.Context, rec check.Recorder) error {
	l, err := g.launcher(ctx)
	if err != nil {
		return err
	}
	spec := g.spec()
	t := g.site.Workloads.Training
	rec.Progress("training %s for %d steps on %d pods", t.Model, t.Steps, spec.Pods)
	o := check.Observation{Kind: KindJob, Target: "job " + spec.Name, Command: g.command(), At: g.deps.Now()}
	outcome, logs, err := g.run(ctx, l, spec)
	if err != nil {
		return err
	}
	o.Took = g.deps.Now().Sub(o.At)
	if outcome.Ended == gangjob.EndedNotRun {
		o.Err = outcome.Problem
	}
	o, err = o.WithFigures(JobFigures{
		Framework: t.Framework, Model: t.Model, Nodes: spec.Nodes, Pods: spec.Pods, GPUsPerNode: spec.GPUs, Steps: t.Steps, Outcome: outcome,
	})
	if err != nil {
		return err //nolint:wrapcheck // says what
	}
	if _, err := rec.Record(o); err != nil {
		return fmt.Errorf("record job: %w", err)
	}
	for _, log := range logs {
		if err := g.record(rec, o, log); err != nil {
			return err
		}
	}
	return nil
}

// record keeps one pod's log.
func (g *Gate) record(rec check.Recorder, job check.Observation, log gangjob.Log) error {
	o := check.Observation{Kind: KindRanks, Target: log.Pod.Node, Command: "log of pod " + log.Pod.Pod, At: job.At, Took: job.Took, Raw: log.Data}
	if log.Pod.ExitCode != nil {
		exit := int(*log.Pod.ExitCode)
		o.Exit = &exit
	}
	f := RankFigures{Pod: log.Pod.Pod, Node: log.Pod.Node, Index: log.Pod.Index, PodStarted: log.Pod.Started, LogProblem: log.Err}
	if err := f.read(g.site.Workloads.Training.Framework, log.Data); err != nil {
		f.LogProblem = err.Error()
	}
	o, err := o.WithFigures(f)
	if err != nil {
		return err //nolint:wrapcheck // says what
	}
	if _, err := rec.Record(o); err != nil {
		return fmt.Errorf("record log of %s: %w", log.Pod.Pod, err)
	}
	return nil
}
