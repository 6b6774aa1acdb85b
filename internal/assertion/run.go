package assertion

import (
	"context"
	"fmt"
	"time"

	"k8s.io/utils/clock"
)

// Interval between two looks; Chainsaw's own is 50 ms, which is much for an API
// server that others use.
const Interval = 500 * time.Millisecond

// answerWithin is what the last look may take after the operation's time.
const answerWithin = 5 * time.Second

// Cluster answers questions.
type Cluster interface {
	// Ask returns the question with its answer, or with the Failure.
	Ask(ctx context.Context, r Read) Read
}

// Runner looks at a cluster.
type Runner struct {
	Cluster Cluster
	Rule    Rule
	// Clock is the real one when nil, Interval the constant when 0.
	Clock    clock.WithTicker
	Interval time.Duration
	// Waiting, if set, is told of every look after which it is looked again.
	Waiting func(Outcome)
}

// Outcome is what became of an operation.
type Outcome struct {
	Operation *Operation
	Result    Result
	// Seen is the last look, of which Evaluate makes Result again.
	Seen Seen
	// Looks is how many there were; Began and Took are when they were.
	Looks int
	Began time.Time
	Took  time.Duration
	// Once: it was looked at but once, because something before it did not hold.
	Once bool
}

// Test runs the operations of a test in their order. By Chainsaw's rule what comes
// after an operation that does not hold is not run. By the rule All everything is
// looked at, but no more is waited for. The error is for a context that ended, or
// what each returns; each is told every outcome as soon as it is there.
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
				return fmt.Errorf("look at %s: %w", op.Subject(), err)
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
	if r.Clock == nil {
		r.Clock = clock.RealClock{}
	}
	if r.Interval == 0 {
		r.Interval = Interval
	}
	return r
}

// source asks the cluster, and keeps what it answered.
func (r Runner) source(ctx context.Context) *source {
	s := replay(Level{At: r.Clock.Now()})
	s.ask = func(q Read) Read { return r.Cluster.Ask(ctx, q) }
	return s
}

// operation looks until it holds or its time is over.
func (r Runner) operation(ctx context.Context, op *Operation, at [levels]*source, wait bool) (Outcome, error) {
	out := Outcome{Operation: op, Began: r.Clock.Now(), Once: !wait}
	limited, cancel := context.WithTimeout(ctx, op.Timeout)
	defer cancel()
	// A look that began in time may end: what is cut short saw nothing.
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

// ends says whether there is nothing to wait for: Chainsaw gives up at the first
// error, where a status that is not there yet may be one.
func (r Runner) ends(result Result) bool {
	return result.unbound || r.Rule == Chainsaw && result.Wrong != ""
}
