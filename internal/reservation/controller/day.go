package controller

import (
	"context"
	"errors"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firstlight/firstlight/internal/reservation/calendar"
	"github.com/firstlight/firstlight/internal/reservation/clock"
	"github.com/firstlight/firstlight/internal/reservation/registry"
	"github.com/firstlight/firstlight/internal/reservation/rotation"
	"github.com/firstlight/firstlight/internal/reservation/store"
)

// day hands one reservation over to people, or takes it back from them: it tries until
// that is done or the window is about to end.
func (c *Controller) day(ctx context.Context, l *ledger, row registry.Reservation) error {
	spec := l.now().Spec
	for attempt := l.row(row.Name).Attempts + 1; ; attempt++ {
		o, err := c.try(ctx, spec, row)
		if err != nil {
			return err
		}
		next, again := c.nextTry(spec, o, attempt)
		done := settled(o.Result) || !again
		c.log(spec, row, o, attempt)
		err = l.write(ctx, func(s *store.HandOverStatus) {
			r := s.Row(row.Name)
			r.Cloud, r.Result, r.Why, r.Deployment, r.Token, r.Attempts = string(row.Cloud), string(o.Result), o.Why, o.Deployment, o.Token, attempt
			if done {
				r.Ended = c.stamp()
			}
		})
		if err != nil || done {
			return err
		}
		if err := c.agenda.Wait(ctx, next); err != nil {
			return err
		}
	}
}

func settled(r rotation.Result) bool {
	return r == rotation.Stands || r == rotation.Down || r == rotation.Nothing || r == rotation.Cleaned
}

func (c *Controller) stamp() *metav1.Time {
	now := metav1.NewTime(c.opts.Clock.Now())
	return &now
}

// try makes one attempt, which ends with the window at the latest. An error is only what
// keeps the controller from going on.
func (c *Controller) try(ctx context.Context, spec store.HandOverSpec, row registry.Reservation) (rotation.Outcome, error) {
	within, cancel := clock.WithEnd(ctx, c.opts.Clock, spec.Until.Time)
	defer cancel()
	var o rotation.Outcome
	done, err := c.turns.try(within, row.Name)
	if err == nil {
		defer done()
		o, err = c.attempt(within, spec, row)
	}
	if ctx.Err() != nil {
		return o, context.Cause(ctx)
	}
	if err != nil {
		o.Reservation, o.Result, o.Why = row.Name, rotation.Failed, err.Error()
		if errors.Is(context.Cause(within), clock.ErrOver) {
			o.Why = "the window ended: " + o.Why
		}
	}
	return o, nil
}

func (c *Controller) attempt(ctx context.Context, spec store.HandOverSpec, row registry.Reservation) (rotation.Outcome, error) {
	if calendar.Action(spec.Action) == calendar.Down {
		return c.opts.Rotation.Down(ctx, row, spec.Entry, c.drained(spec), false) //nolint:wrapcheck // says what it was doing
	}
	times, err := rotation.TimesOf(c.opts.Schedule, c.opts.Clock.Now(), c.opts.Notice)
	if err != nil {
		return rotation.Outcome{}, err //nolint:wrapcheck // says what it was doing
	}
	return c.opts.Rotation.Up(ctx, row, times.Ends, times.Last) //nolint:wrapcheck // says what it was doing
}

// drained is until when a holder keeps it: the notice counts from when the evening was
// due, however late it is.
func (c *Controller) drained(spec store.HandOverSpec) time.Time { return spec.At.Add(c.opts.Notice) }

// nextTry is when it is tried again: a holder who was asked is not asked before his time
// is over. The last attempt is made shortly before the window ends.
func (c *Controller) nextTry(spec store.HandOverSpec, o rotation.Outcome, attempt int) (next time.Time, again bool) {
	now := c.opts.Clock.Now()
	next = now.Add(c.pause(attempt))
	if o.Result == rotation.Asked {
		next = c.drained(spec)
		if !next.After(now) { // it was extended
			next = now.Add(c.opts.Retry)
		}
	}
	if last := spec.Until.Add(-c.opts.Retry); next.After(last) {
		return last, last.After(now)
	}
	return next, true
}

func (c *Controller) log(spec store.HandOverSpec, row registry.Reservation, o rotation.Outcome, attempt int) {
	args := []any{"entry", spec.Entry, "reservation", row.Name, "result", o.Result, "attempt", attempt}
	if o.Deployment != "" {
		args = append(args, "deployment", o.Deployment)
	}
	if o.Why != "" {
		args = append(args, "why", o.Why)
	}
	if settled(o.Result) || o.Result == rotation.Asked {
		c.opts.Log.Info("hand-over", args...)
		return
	}
	c.opts.Log.Warn("hand-over", args...)
}

// failed says what a row of a day's hand-over lacks; empty: nothing.
func failed(r store.HandOverRow) string {
	if settled(rotation.Result(r.Result)) || r.Result == passed || r.Result == superseded {
		return ""
	}
	if r.Result == "" {
		return r.Reservation + ": nothing was done"
	}
	return fmt.Sprintf("%s: %s: %s", r.Reservation, r.Result, r.Why)
}
