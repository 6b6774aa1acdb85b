package training

import (
	"context"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/gate/gangjob"
	"github.com/firstlight/firstlight/internal/workload"
)

// Observe implements check.Check.
func (g *Gate) Observe(ctx context.Context, rec check.Recorder) error {
	l, err := g.launcher(ctx)
	if err != nil {
		return err
	}
	spec := g.spec()
	return g.observe(rec, spec, func() (gangjob.Outcome, []gangjob.Log, error) { return g.run(ctx, l, spec) })
}

// observe records the job that run runs, and its logs.
func (g *Gate) observe(rec check.Recorder, spec workload.Spec, run func() (gangjob.Outcome, []gangjob.Log, error)) error {
	t := g.site.Workloads.Training
	rec.Progress("training %s for %d steps on %d nodes", t.Model, t.Steps, spec.Pods)
	attempt := g.deps.Observer(rec).Begin(KindJob, "job "+spec.Name, g.command())
	outcome, logs, err := run()
	if err != nil {
		return err
	}
	figures := JobFigures{
		Framework: t.Framework, Model: t.Model, Nodes: spec.Nodes, Pods: spec.Pods, GPUsPerNode: spec.GPUs, Steps: t.Steps, Outcome: outcome,
	}
	if err := attempt.RecordPartial(figures, outcome.NotRun()); err != nil {
		return err
	}
	for _, log := range logs {
		if err := g.recordLog(rec, log); err != nil {
			return err
		}
	}
	return nil
}

func (g *Gate) recordLog(rec check.Recorder, log gangjob.Log) error {
	attempt := g.deps.Observer(rec).Begin(KindRanks, log.Pod.Node, "log of pod "+log.Pod.Pod).Raw(log.Data)
	if log.Pod.ExitCode != nil {
		attempt = attempt.Exit(int(*log.Pod.ExitCode))
	}
	f := RankFigures{Pod: log.Pod.Pod, Node: log.Pod.Node, Index: log.Pod.Index, PodStarted: log.Pod.Started, LogProblem: log.Err}
	if err := f.read(g.site.Workloads.Training.Framework, log.Data); err != nil {
		f.LogProblem = err.Error()
	}
	return attempt.Record(f, nil)
}
