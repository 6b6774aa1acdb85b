package assertion

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"k8s.io/utils/clock"
)

// Interval between two polls. Chainsaw's is 50 ms, too often for a shared API server.
const Interval = 500 * time.Millisecond

// answerWithin bounds the last poll after the operation's timeout.
const answerWithin = 5 * time.Second

// Cluster performs reads.
type Cluster interface {
	// Ask returns the read with its response or Failure.
	Ask(ctx context.Context, r Read) Read
}

// Runner evaluates tests on a cluster.
type Runner struct {
	Cluster Cluster
	Rule    Rule
	// Clock defaults to the real clock, Interval to the constant.
	Clock    clock.WithTicker
	Interval time.Duration
	// Waiting, if set, receives every outcome that is not final.
	Waiting func(Outcome)
}

// Outcome of an operation.
type Outcome struct {
	Operation *Operation
	Result    Result
	// Seen holds the reads of the last evaluation.
	Seen Seen
	// Looks is the number of evaluations; Began and Took their time.
	Looks int
	Began time.Time
	Took  time.Duration
	// Once: evaluated only once, because an earlier operation failed.
	Once bool
}

// Test runs the operations of a test in order and calls each with every outcome. With the
// rule Chainsaw a failed operation ends the test. With the rule All the remaining operations
// are evaluated once, without waiting. The error is that of ctx or of each.
func (r Runner) Test(ctx context.Context, t *Test, each func(Outcome) error) error {
	r = r.defaults()
	held := true
	var test *source
	for _, step := range t.Steps {
		var level *source
		for _, op := range step.Operations {
			at := [levels]*source{levelTest: test, levelStep: level, levelOperation: r.source(ctx)}
			if test == nil {
				test = r.source(ctx)
				at[levelTest] = test
			}
			if level == nil {
				level = r.source(ctx)
				at[levelStep] = level
			}
			out, err := r.operation(ctx, op, at, held || r.Rule == Chainsaw)
			if err != nil {
				return fmt.Errorf("read %s: %w", op.Subject(), err)
			}
			if err := each(out); err != nil {
				return err
			}
			held = held && out.Result.Holds
			if !out.Result.Holds && r.Rule == Chainsaw && !op.ContinueOnError {
				return nil
			}
		}
	}
	return nil
}

func (r Runner) defaults() Runner {
	r.Clock = cmp.Or[clock.WithTicker](r.Clock, clock.RealClock{})
	r.Interval = cmp.Or(r.Interval, Interval)
	return r
}

// source reads from the cluster and records the responses.
func (r Runner) source(ctx context.Context) *source {
	s := replay(Level{At: r.Clock.Now()})
	s.ask = func(q Read) Read { return r.Cluster.Ask(ctx, q) }
	return s
}

// operation polls until it holds or times out.
func (r Runner) operation(ctx context.Context, op *Operation, at [levels]*source, wait bool) (Outcome, error) {
	out := Outcome{Operation: op, Began: r.Clock.Now(), Once: !wait}
	limited, cancel := context.WithTimeout(ctx, op.Timeout)
	defer cancel()
	// A poll that began in time may finish: a cancelled one observes nothing.
	looking, stop := context.WithTimeout(ctx, op.Timeout+answerWithin)
	defer stop()
	ticker := r.Clock.NewTicker(r.Interval)
	defer ticker.Stop()
	for {
		at[levelLook] = r.source(looking)
		result := op.evaluate(at, r.Rule)
		if err := ctx.Err(); err != nil {
			return out, err
		}
		if looking.Err() == nil || out.Looks == 0 {
			out.Result, out.Looks = result, out.Looks+1
			for i := range at {
				out.Seen[i] = at[i].level()
			}
		}
		out.Took = r.Clock.Since(out.Began)
		if result.Holds || !wait || limited.Err() != nil || r.ends(result) {
			return out, nil
		}
		if r.Waiting != nil {
			r.Waiting(out)
		}
		select {
		case <-ticker.C():
		case <-limited.Done():
			if err := ctx.Err(); err != nil {
				return out, err
			}
			out.Took = r.Clock.Since(out.Began)
			return out, nil
		}
	}
}

// ends reports whether waiting is useless: Chainsaw stops at the first error.
func (r Runner) ends(result Result) bool {
	return result.unbound || r.Rule == Chainsaw && result.Wrong != ""
}
