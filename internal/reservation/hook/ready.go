package hook

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

)

// Options of Await.
type ReadyOptions struct {
	Expected ReadyExpectation
	// Within is the deadline of it all, Between the pause between two attempts, and Each the
	// most that an attempt may take; 0: what is left.
	Timeout, Interval, AttemptTimeout time.Duration
	// Census looks at the nodes.
	GetNodes func(ctx context.Context) (Nodes, error)
	// Also is what else has to hold, in the same attempt; nil: nothing.
	ExtraCheck func(ctx context.Context) error
	// Log gets a line of JSON an attempt, before the next one begins; nil: nobody.
	Log   io.Writer
	Clock Clock
}

// Attempt is one line of the log.
type ReadyAttempt struct {
	N     int       `json:"n"`
	StartedAt time.Time `json:"startedAt"`
	EndedAt time.Time `json:"endedAt"`
	// Left is what there is until the deadline, in seconds.
	RemainingSeconds float64 `json:"leftSeconds"`
	Sample NodeSample    `json:"sample"`
	ReadyResult
}

// NotReadyError says that the deadline came first.
type NotReadyError struct {
	Timeout   time.Duration
	Attempts int
	Last     ReadyResult
	Want     int
}

func (e *NotReadyError) Error() string {
	reason := "there was no time for one"
	if e.Attempts > 0 {
		reason = fmt.Sprintf("at last %d of %d passes in a row", e.Last.Checks, e.Want)
	}
	if len(e.Last.Reasons) > 0 {
		reason += ": " + strings.Join(e.Last.Reasons, "; ")
	}
	return fmt.Sprintf("not ready within %s, after %d attempts; %s", e.Timeout, e.Attempts, reason)
}

// Await looks until it is ready, and returns the nodes that it is ready with. A NotReadyError
// is the deadline's; other errors are of what kept it from being awaited.
func WaitReady(ctx context.Context, o ReadyOptions) (Nodes, error) {
	if err := o.Expected.Validate(); err != nil {
		return nil, err
	}
	if o.Timeout <= 0 || o.Interval < 0 || o.AttemptTimeout < 0 {
		return nil, fmt.Errorf("await readiness: within %s, between %s, each %s: want a deadline, and nothing below 0", o.Timeout, o.Interval, o.AttemptTimeout)
	}
	end := o.Clock.Now().Add(o.Timeout)
	var last ReadyResult
	for n := 1; ; n++ {
		left := end.Sub(o.Clock.Now())
		if left <= 0 {
			return nil, &NotReadyError{Timeout: o.Timeout, Attempts: n - 1, Last: last, Want: o.Expected.Checks}
		}
		a := o.attempt(ctx, n, left, last.ReadyCount)
		a.RemainingSeconds = end.Sub(a.EndedAt).Seconds()
		if a.Ready && a.EndedAt.After(end) {
			a.Ready = false // it came too late
		}
		if err := o.logAttempt(a); err != nil {
			return nil, err
		}
		if ctx.Err() != nil {
			return nil, fmt.Errorf("await readiness: %w", context.Cause(ctx))
		}
		if last = a.ReadyResult; last.Ready {
			return last.Nodes, nil
		}
		if err := o.Clock.Sleep(ctx, min(o.Interval, max(0, end.Sub(o.Clock.Now())))); err != nil {
			return nil, fmt.Errorf("await readiness: %w", err)
		}
	}
}

// errTime is why an attempt is ended.
var errAttemptTimeout = errors.New("the attempt took longer than it may")

// attempt is one, bounded by what is left.
func (o ReadyOptions) attempt(ctx context.Context, n int, left time.Duration, before ReadyCount) ReadyAttempt {
	a := ReadyAttempt{N: n, StartedAt: o.Clock.Now()}
	bound := left
	if o.AttemptTimeout > 0 {
		bound = min(bound, o.AttemptTimeout)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, bound, errAttemptTimeout)
	defer cancel()
	nodes, err := o.GetNodes(ctx)
	switch {
	case err != nil:
		a.Sample.Error = "census: " + err.Error()
	case nodes == nil:
		a.Sample.Nodes = Nodes{}
	default:
		a.Sample.Nodes = nodes
	}
	if err == nil && o.ExtraCheck != nil {
		if err := o.ExtraCheck(ctx); err != nil {
			a.Sample.Error = err.Error()
		}
	}
	a.EndedAt = o.Clock.Now()
	a.ReadyResult = JudgeReady(before, a.Sample, o.Expected)
	return a
}

// keep appends a line. What can't be kept is not gone on with: every attempt is on record.
func (o ReadyOptions) logAttempt(a ReadyAttempt) error {
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
