// Package clock is time of day, and how it passes. Everything that goes by the calendar
// is given one: the machine's, or one that jumps over the hours in which nothing is due.
package clock

import (
	"context"
	"errors"
	"time"
)

// Clock is time, twice: of day, for people, calendars and tokens; and since some moment,
// which no change of the clock moves.
type Clock interface {
	Now() time.Time
	Elapsed() time.Duration
	// Until returns when a time of day has come, or with the cause of ctx's end.
	Until(ctx context.Context, t time.Time) error
}

// ErrOver is the cause of a context whose time of day has come.
var ErrDeadline = errors.New("its time is over")

// WithEnd is a context that ends at a time of day, with ErrOver as its cause.
func WithDeadline(ctx context.Context, c Clock, t time.Time) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	go func() {
		if c.Until(ctx, t) == nil {
			cancel(ErrDeadline)
		}
	}()
	return ctx, func() { cancel(nil) }
}

// look is how often a clock is looked at that may be set.
const pollInterval = time.Second

// machine is the machine's clock. Elapsed counts from its start: a machine whose clock is
// set does not move it.
type machine struct{ started time.Time }

// Machine is the machine's clock.
func Machine() Clock { return machine{started: time.Now()} }

func (m machine) Now() time.Time         { return time.Now().Round(0) }
func (m machine) Elapsed() time.Duration { return time.Since(m.started) }

// Until looks at the clock again and again: it may be set, and a machine may sleep.
func (m machine) Until(ctx context.Context, t time.Time) error { return until(ctx, m, t, pollInterval) }

func until(ctx context.Context, c Clock, t time.Time, every time.Duration) error {
	for {
		left := t.Sub(c.Now())
		if left <= 0 {
			return nil
		}
		timer := time.NewTimer(min(left, every))
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return context.Cause(ctx)
		}
	}
}
