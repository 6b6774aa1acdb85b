// Package clock is the time source of everything that follows the calendar: the system clock, or,
// in a simulation, one that skips idle hours.
package clock

import (
	"context"
	"errors"
	"time"
)

// Clock has the time of day, for people, calendars and tokens, and a monotonic time, which does
// not follow changes of the clock.
type Clock interface {
	Now() time.Time
	Elapsed() time.Duration
	// Until returns at a time of day, or with the cause of ctx's end.
	Until(ctx context.Context, t time.Time) error
}

// ErrDeadline is the cause of a context whose time of day has come.
var ErrDeadline = errors.New("deadline of the clock reached")

// WithDeadline returns a context that ends at a time of day, with ErrDeadline as its cause.
func WithDeadline(ctx context.Context, c Clock, t time.Time) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	go func() {
		if c.Until(ctx, t) == nil {
			cancel(ErrDeadline)
		}
	}()
	return ctx, func() { cancel(nil) }
}

// pollInterval applies to clocks that can be set.
const pollInterval = time.Second

// machine counts Elapsed from its start, so that a change of the system clock does not move it.
type machine struct{ started time.Time }

// Machine returns the system clock.
func Machine() Clock { return machine{started: time.Now()} }

func (m machine) Now() time.Time         { return time.Now().Round(0) }
func (m machine) Elapsed() time.Duration { return time.Since(m.started) }

// Until polls the clock: it may be set, and a machine may sleep.
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
