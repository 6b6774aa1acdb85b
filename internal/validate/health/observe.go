package health

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firstlight/firstlight/internal/assertion"
	"github.com/firstlight/firstlight/internal/check"
)

// kindAssertion is the kind of every observation.
const kindAssertion = "assertion"

// figures are what was seen of one operation.
type figures struct {
	place
	// Digest of the file, SHA-256 in hexadecimal.
	Digest string `json:"digest"`
	// Kind is assert or error.
	Kind string `json:"kind"`
	// Looks is how often it was looked at; Once: no more, because something before it
	// did not hold.
	Looks int  `json:"looks"`
	Once  bool `json:"once,omitempty"`
	// Seen is what the last look saw.
	Seen assertion.Seen `json:"seen"`
}

// place says which operation of which component it is; numbers from 1, scenario 0
// where there is none.
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
		return errors.New("look at the components' health: no cluster is given")
	}
	cluster, err := c.deps.Cluster(ctx)
	if err != nil {
		return fmt.Errorf("reach the cluster: %w", err)
	}
	o := observer{Check: c, rec: rec, said: map[*assertion.Operation]time.Duration{}, runner: assertion.Runner{
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

// observer looks, and records.
type observer struct {
	*Check
	runner assertion.Runner

	mu  sync.Mutex // one observation after the other
	rec check.Recorder
	// said is for how long each operation had been waited for when that was last told.
	said map[*assertion.Operation]time.Duration
}

func (o *observer) component(ctx context.Context, l *loaded) error {
	o.tell("%s: %d assertions", l.Name, len(l.operations()))
	for _, t := range l.tests {
		if err := o.runner.Test(ctx, t, func(out assertion.Outcome) error { return o.keep(l, out) }); err != nil {
			return fmt.Errorf("health of %s: %w", l.Name, err)
		}
	}
	return nil
}

func (o *observer) tell(format string, args ...any) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.rec.Progress(format, args...)
}

// sayEvery is how often it is said what is still waited for.
const sayEvery = 10 * time.Second

// waiting says what does not hold yet, and for how long it is waited for.
func (o *observer) waiting(out assertion.Outcome) {
	if o.due(out.Operation, out.Took) {
		o.tell("%s: %s does not hold after %s; it has %s", out.Operation.At, out.Result.Subject, out.Took.Round(time.Second), out.Operation.Timeout)
	}
}

// due says, once in a while, that there is something to say of an operation.
func (o *observer) due(op *assertion.Operation, took time.Duration) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if took < o.said[op]+sayEvery {
		return false
	}
	o.said[op] = took
	return true
}

func (o *observer) keep(l *loaded, out assertion.Outcome) error {
	if !out.Result.Holds {
		o.tell("%s: %s does not hold", l.Name, out.Result.Subject)
	}
	op := out.Operation
	seen, err := check.Observation{
		Kind: kindAssertion, Target: l.Name + " " + op.Step.Name, Command: fmt.Sprintf("%s %s (%s)", op.Kind, out.Result.Subject, op.At),
		At: out.Began, Took: metav1.Duration{Duration: out.Took},
	}.WithFigures(figures{
		place: placeOf(l.Name, op), Digest: l.digest(), Kind: string(op.Kind), Looks: out.Looks, Once: out.Once, Seen: out.Seen,
	})
	if err != nil {
		return fmt.Errorf("record %s: %w", out.Result.Subject, err)
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if _, err := o.rec.Record(seen); err != nil {
		return fmt.Errorf("record %s: %w", out.Result.Subject, err)
	}
	return nil
}
