package health

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/firstlight/firstlight/internal/assertion"
	"github.com/firstlight/firstlight/internal/check"
)

// kindAssertion is the kind of every observation.
const kindAssertion = "assertion"

// figures are the outcome of one operation.
type figures struct {
	place
	// Digest of the file, SHA-256 in hexadecimal.
	Digest string `json:"digest"`
	// Kind is assert or error.
	Kind string `json:"kind"`
	// Looks is the number of evaluations. Once: evaluated only once, because an earlier
	// operation failed.
	Looks int  `json:"looks"`
	Once  bool `json:"once,omitempty"`
	// Seen holds the reads of the last evaluation.
	Seen assertion.Seen `json:"seen"`
}

// place identifies an operation of a component; numbers start at 1, Scenario is 0 without
// scenarios.
type place struct {
	Component string `json:"component"`
	Test      int    `json:"test"`
	Scenario  int    `json:"scenario,omitempty"`
	Step      int    `json:"step"`
	Number    int    `json:"operation"`
	Object    int    `json:"object"`
}

func placeOf(component string, op *assertion.Operation) place {
	return place{component, op.Test.Number, op.Test.Scenario, op.Step.Number, op.Number, op.Object}
}

// Observe implements check.Check.
func (c *Check) Observe(ctx context.Context, rec check.Recorder) error {
	if c.deps.Cluster == nil {
		return errors.New("observe the components' health: no cluster is configured")
	}
	cluster, err := c.deps.Cluster(ctx)
	if err != nil {
		return fmt.Errorf("reach the cluster: %w", err)
	}
	o := observer{Check: c, rec: check.Observer{Recorder: rec, Clock: c.deps.Clock}, reported: map[*assertion.Operation]time.Duration{}, runner: assertion.Runner{
		Cluster: assertion.NewLive(cluster.Dynamic, cluster.Client.Discovery(), c.deps.Clock),
		Rule:    assertion.All, Clock: c.deps.Clock, Interval: c.opts.Interval,
	}}
	o.runner.Waiting = o.waiting
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(c.opts.Parallel)
	for i := range c.components {
		group.Go(func() error { return o.component(ctx, &c.components[i]) })
	}
	return group.Wait()
}

// observer evaluates the assertions and records the outcomes.
type observer struct {
	*Check
	runner assertion.Runner
	rec    check.Observer

	mu sync.Mutex
	// reported is the elapsed time of each operation at its last progress line.
	reported map[*assertion.Operation]time.Duration
}

func (o *observer) component(ctx context.Context, l *loaded) error {
	o.rec.Progress("%s: %d assertions", l.Name, len(l.operations()))
	for _, t := range l.tests {
		if err := o.runner.Test(ctx, t, func(out assertion.Outcome) error { return o.record(l, out) }); err != nil {
			return fmt.Errorf("health of %s: %w", l.Name, err)
		}
	}
	return nil
}

// progressInterval is the time between two progress lines of an operation.
const progressInterval = 10 * time.Second

// waiting reports an operation that does not hold yet, and its timeout.
func (o *observer) waiting(out assertion.Outcome) {
	if o.due(out.Operation, out.Took) {
		o.rec.Progress("%s: %s does not hold after %s; timeout %s", out.Operation.At, out.Result.Subject, out.Took.Round(time.Second), out.Operation.Timeout)
	}
}

// due reports whether an operation needs a progress line now.
func (o *observer) due(op *assertion.Operation, took time.Duration) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if took < o.reported[op]+progressInterval {
		return false
	}
	o.reported[op] = took
	return true
}

func (o *observer) record(l *loaded, out assertion.Outcome) error {
	if !out.Result.Holds {
		o.rec.Progress("%s: %s does not hold", l.Name, out.Result.Subject)
	}
	op := out.Operation
	attempt := o.rec.Begin(kindAssertion, l.Name+" "+op.Step.Name, fmt.Sprintf("%s %s (%s)", op.Kind, out.Result.Subject, op.At)).Ran(out.Began, out.Took)
	return attempt.Record(figures{
		place: placeOf(l.Name, op), Digest: l.digest(), Kind: string(op.Kind), Looks: out.Looks, Once: out.Once, Seen: out.Seen,
	}, nil)
}
