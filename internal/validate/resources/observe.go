package resources

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/probe/kube"
)

// Observe implements check.Check.
func (c *Check) Observe(ctx context.Context, rec check.Recorder) error {
	if c.deps.Cluster == nil {
		return errors.New("observe the recipe's objects: no cluster is configured")
	}
	if len(c.expected) == 0 {
		return nil // Judge fails
	}
	cluster, err := c.deps.Cluster(ctx)
	if err != nil {
		return fmt.Errorf("reach the cluster: %w", err)
	}
	rec.Progress("reading %d objects", len(c.expected))
	attempt := check.Observer{Recorder: rec, Clock: c.deps.Clock}.Begin(kindInventory, "cluster",
		fmt.Sprintf("GET %d objects, and pods, nodes and namespaces of incomplete objects", len(c.expected)))
	found, failed := c.await(ctx, &reader{Cluster: cluster}, rec)
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("observe the recipe's objects: %w", err)
	}
	return attempt.Record(found, failed)
}

// await reads until every object is complete or the timeout passes; then it reads the causes.
func (c *Check) await(ctx context.Context, l *reader, rec check.Recorder) (inventory, error) {
	bounded, cancel := context.WithTimeout(ctx, c.opts.Timeout+answerWithin)
	defer cancel()
	until := c.deps.Clock.Now().Add(c.opts.Timeout)
	ticker := c.deps.Clock.NewTicker(c.opts.Interval)
	defer ticker.Stop()
	for reads := 1; ; reads++ {
		states, err := l.readAll(bounded, c.expected)
		found := inventory{Objects: states, Looks: reads}
		late := !c.deps.Clock.Now().Add(c.opts.Interval).Before(until)
		switch {
		case err == nil && !slices.ContainsFunc(states, lacking):
			return found, nil
		case err == nil && late:
			l.explain(bounded, states)
			return found, nil
		case late || bounded.Err() != nil:
			return found, err
		}
		rec.Progress("%s", waitingFor(states, err))
		select {
		case <-ticker.C():
		case <-bounded.Done():
			return found, fmt.Errorf("wait for the objects: %w", bounded.Err())
		}
	}
}

func lacking(s state) bool { return !s.complete() && !s.optional() }

// waitingFor names the incomplete objects.
func waitingFor(states []state, err error) string {
	if err != nil {
		return err.Error()
	}
	n := 0
	first := ""
	for _, s := range states {
		if lacking(s) {
			if n++; n == 1 {
				first = s.id() + " " + s.missing()
			}
		}
	}
	return fmt.Sprintf("%d of %d objects are not complete: %s", n, len(states), first)
}

// reader reads the objects of a cluster.
type reader struct {
	*kube.Cluster
	// served are the resources of kinds other than workloads; discover sets them.
	served map[string][]resource
}
