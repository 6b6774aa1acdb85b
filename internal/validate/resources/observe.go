package resources

import (
	"context"
	"errors"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/probe/kube"
)

// Observe implements check.Check.
func (c *Check) Observe(ctx context.Context, rec check.Recorder) error {
	if c.deps.Cluster == nil {
		return errors.New("look for the recipe's objects: no cluster is given")
	}
	if len(c.expected) == 0 {
		return nil // the judgement says so
	}
	cluster, err := c.deps.Cluster(ctx)
	if err != nil {
		return fmt.Errorf("reach the cluster: %w", err)
	}
	rec.Progress("looking for %d objects", len(c.expected))
	began := c.deps.Clock.Now()
	seen, failed := c.await(ctx, newLooker(cluster), rec)
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("look for the recipe's objects: %w", err)
	}
	o := check.Observation{
		Kind: kindInventory, Target: "cluster", Command: fmt.Sprintf("GET %d objects; of those that are not complete their pods, nodes and namespaces", len(c.expected)),
		At: began, Took: metav1.Duration{Duration: c.deps.Clock.Since(began)},
	}
	if failed != nil {
		o.Err = failed.Error()
	} else if o, err = o.WithFigures(seen); err != nil {
		return fmt.Errorf("record the inventory: %w", err)
	}
	if _, err := rec.Record(o); err != nil {
		return fmt.Errorf("record the inventory: %w", err)
	}
	return nil
}

// await looks until everything is complete, or the time is over; then it asks why.
func (c *Check) await(ctx context.Context, l *looker, rec check.Recorder) (inventory, error) {
	bounded, cancel := context.WithTimeout(ctx, c.opts.Timeout+answerWithin)
	defer cancel()
	until := c.deps.Clock.Now().Add(c.opts.Timeout)
	ticker := c.deps.Clock.NewTicker(c.opts.Interval)
	defer ticker.Stop()
	for looks := 1; ; looks++ {
		states, err := l.look(bounded, c.expected)
		seen := inventory{Objects: states, Looks: looks}
		late := !c.deps.Clock.Now().Add(c.opts.Interval).Before(until)
		switch {
		case err == nil && !slices.ContainsFunc(states, lacking):
			return seen, nil
		case err == nil && late:
			l.explain(bounded, states)
			return seen, nil
		case late || bounded.Err() != nil:
			return seen, err
		}
		rec.Progress("%s", lack(states, err))
		select {
		case <-ticker.C():
		case <-bounded.Done():
			return seen, fmt.Errorf("wait for the objects: %w", bounded.Err())
		}
	}
}

func lacking(s state) bool { return !s.complete() && !s.optional() }

// lack says what is waited for.
func lack(states []state, err error) string {
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

// looker looks at a cluster.
type looker struct {
	*kube.Cluster
	// served are the resources of other kinds than workloads, once they are asked for.
	served map[string][]resource
}

func newLooker(c *kube.Cluster) *looker { return &looker{Cluster: c} }
