package readiness

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/firstlight/firstlight/internal/reservation/hook"
)

// Clock is time of day, and how it passes.
type Clock = hook.Clock

// Options of Await.
type Options struct {
	Expect Expect
	// Within is the deadline of it all, Between the pause between two attempts, and Each the
	// most that an attempt may take; 0: what is left.
	Within, Between, Each time.Duration
	// Census looks at the nodes.
	Census func(ctx context.Context) (hook.Nodes, error)
	// Also is what else has to hold, in the same attempt; nil: nothing.
	Also func(ctx context.Context) error
	// Log gets a line of JSON an attempt, before the next one begins; nil: nobody.
	Log   io.Writer
	Clock Clock
}

// Attempt is one line of the log.
type Attempt struct {
	N     int       `json:"n"`
	Began time.Time `json:"began"`
	Ended time.Time `json:"ended"`
	// Left is what there is until the deadline, in seconds.
	Left float64 `json:"leftSeconds"`
	Look Look    `json:"look"`
	Step
}

// NotReadyError says that the deadline came first.
type NotReadyError struct {
	Within   time.Duration
	Attempts int
	Last     Step
	Want     int
}

func (e *NotReadyError) Error() string {
	why := "there was no time for one"
	if e.Attempts > 0 {
		why = fmt.Sprintf("at last %d of %d passes in a row", e.Last.Passes, e.Want)
	}
	if len(e.Last.Why) > 0 {
		why += ": " + strings.Join(e.Last.Why, "; ")
	}
	return fmt.Sprintf("not ready within %s, after %d attempts; %s", e.Within, e.Attempts, why)
}

// Await looks until it is ready, and returns the nodes that it is ready with. A NotReadyError
// is the deadline's; other errors are of what kept it from being awaited.
func Await(ctx context.Context, o Options) (hook.Nodes, error) {
	if err := o.Expect.Validate(); err != nil {
		return nil, err
	}
	if o.Within <= 0 || o.Between < 0 || o.Each < 0 {
		return nil, fmt.Errorf("await readiness: within %s, between %s, each %s: want a deadline, and nothing below 0", o.Within, o.Between, o.Each)
	}
	end := o.Clock.Now().Add(o.Within)
	var last Step
	for n := 1; ; n++ {
		left := end.Sub(o.Clock.Now())
		if left <= 0 {
			return nil, &NotReadyError{Within: o.Within, Attempts: n - 1, Last: last, Want: o.Expect.Passes}
		}
		a := o.attempt(ctx, n, left, last.Count)
		a.Left = end.Sub(a.Ended).Seconds()
		if a.Ready && a.Ended.After(end) {
			a.Ready = false // it came too late
		}
		if err := o.keep(a); err != nil {
			return nil, err
		}
		if ctx.Err() != nil {
			return nil, fmt.Errorf("await readiness: %w", context.Cause(ctx))
		}
		if last = a.Step; last.Ready {
			return last.Nodes, nil
		}
		if err := o.Clock.Sleep(ctx, min(o.Between, max(0, end.Sub(o.Clock.Now())))); err != nil {
			return nil, fmt.Errorf("await readiness: %w", err)
		}
	}
}

// errTime is why an attempt is ended.
var errTime = errors.New("the attempt took longer than it may")

// attempt is one, bounded by what is left.
func (o Options) attempt(ctx context.Context, n int, left time.Duration, before Count) Attempt {
	a := Attempt{N: n, Began: o.Clock.Now()}
	bound := left
	if o.Each > 0 {
		bound = min(bound, o.Each)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, bound, errTime)
	defer cancel()
	nodes, err := o.Census(ctx)
	switch {
	case err != nil:
		a.Look.Err = "census: " + err.Error()
	case nodes == nil:
		a.Look.Nodes = hook.Nodes{}
	default:
		a.Look.Nodes = nodes
	}
	if err == nil && o.Also != nil {
		if err := o.Also(ctx); err != nil {
			a.Look.Err = err.Error()
		}
	}
	a.Ended = o.Clock.Now()
	a.Step = Judge(before, a.Look, o.Expect)
	return a
}

// keep appends a line. What can't be kept is not gone on with: every attempt is on record.
func (o Options) keep(a Attempt) error {
	if o.Log == nil {
		return nil
	}
	raw, err := json.Marshal(a)
	if err == nil {
		_, err = o.Log.Write(append(raw, '\n'))
	}
	if err != nil {
		return fmt.Errorf("keep attempt %d at readiness: %w", a.N, err)
	}
	return nil
}
