package collective

import (
	"context"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/gate/gangjob"
	"github.com/firstlight/firstlight/internal/workload"
)

// observeRest runs the other collectives of the site after an all-reduce that passed, and each rail and NVLink
// domain unless the all-reduce failed with the name of a node.
func (g *Gate) observeRest(ctx context.Context, rec check.Recorder, l *workload.Launcher, all Figures, tried []Figures) error {
	if all.Outcome.Ended == gangjob.EndedNotRun {
		return nil
	}
	r := g.reviewRun("", all)
	if !r.HasFailed() {
		for _, t := range g.suite()[1:] {
			if err := g.observeOther(ctx, rec, l, t); err != nil {
				return err
			}
		}
	}
	if r.named || len(g.culprits(all, g.trials(tried))) > 0 {
		return nil
	}
	for _, j := range g.rails() {
		rec.Progress("all_reduce over rail %s of %d nodes, %d repetitions", j.rail, len(j.nodes), j.repetitions)
		if _, err := g.observe(ctx, rec, l, j); err != nil {
			return err
		}
	}
	return g.observeDomains(ctx, rec, l, all)
}

// observeOther runs another collective, and localises its failure.
func (g *Gate) observeOther(ctx context.Context, rec check.Recorder, l *workload.Launcher, t test) error {
	j := g.all(t)
	rec.Progress("%s over %d nodes, %d repetitions", t.name, len(j.nodes), j.repetitions)
	f, err := g.observe(ctx, rec, l, j)
	if err != nil {
		return err
	}
	_, err = g.localise(ctx, rec, l, f)
	return err
}
