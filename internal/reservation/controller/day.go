package controller

import (
	"context"
	"errors"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firstlight/firstlight/internal/reservation/calendar"
	"github.com/firstlight/firstlight/internal/reservation/clock"
	"github.com/firstlight/firstlight/internal/reservation/config"
	"github.com/firstlight/firstlight/internal/reservation/store"
)

// rotate starts or ends the day deployment of one reservation. It retries until it succeeds or the
// window is about to end.
func (c *Controller) rotate(ctx context.Context, l *runRecord, row config.Reservation) error {
	spec := l.now().Spec
	for attempt := l.row(row.Name).Attempts + 1; ; attempt++ {
		o, err := c.try(ctx, spec, row)
		if err != nil {
			return err
		}
		next, again := c.nextTry(spec, o, attempt)
		done := isSettled(o.Result) || !again
		if done && o.Result == ResultNotified {
			o.Reason += ": the sweep ends the lease then, and removes the deployment"
		}
		c.log(spec, row, o, attempt)
		err = l.write(ctx, func(s *store.HandOverStatus) {
			r := s.Row(row.Name)
			r.Cloud, r.Result, r.Reason, r.Deployment, r.Token, r.Attempts = string(row.Cloud), string(o.Result), o.Reason, o.Deployment, o.Token, attempt
			if done {
				r.Ended = c.stamp()
			}
		})
		if err != nil || done {
			return err
		}
		if err := c.idle.Wait(ctx, next); err != nil {
			return err
		}
		if err := c.awaitClock(ctx); err != nil {
			return err
		}
	}
}

func isSettled(r Result) bool {
	return r == ResultUp || r == ResultDown || r == ResultUnchanged || r == ResultCleaned
}

func (c *Controller) stamp() *metav1.Time {
	now := metav1.NewTime(c.opts.Clock.Now())
	return &now
}

// try makes one attempt, which ends with the window. An error ends the controller.
func (c *Controller) try(ctx context.Context, spec store.HandOverSpec, row config.Reservation) (Outcome, error) {
	within, cancel := clock.WithDeadline(ctx, c.opts.Clock, spec.Until.Time)
	defer cancel()
	var o Outcome
	done, err := c.locks.try(within, row.Name)
	if err == nil {
		defer done()
		o, err = c.attempt(within, spec, row)
	}
	if ctx.Err() != nil {
		return o, context.Cause(ctx)
	}
	if err != nil {
		o = o.fail(err)
		o.Reservation = row.Name
		if errors.Is(context.Cause(within), clock.ErrDeadline) {
			o.Reason = "end of the window: " + o.Reason
		}
	}
	return o, nil
}

func (c *Controller) attempt(ctx context.Context, spec store.HandOverSpec, row config.Reservation) (Outcome, error) {
	if calendar.Action(spec.Action) == calendar.Down {
		return c.opts.Rotation.Down(ctx, row, spec.Entry, c.noticeEnd(spec), false)
	}
	times, err := DayTimesOf(c.opts.Schedule, c.opts.Clock.Now(), c.opts.Notice)
	if err != nil {
		return Outcome{}, err
	}
	return c.opts.Rotation.Up(ctx, row, times)
}

// noticeEnd is when a notified holder loses the deployment. It counts from the due time, also if
// the hand-over is late.
func (c *Controller) noticeEnd(spec store.HandOverSpec) time.Time { return spec.At.Add(c.opts.Notice) }

// nextTry returns the time of the next attempt: after a notice, not before its end; and the last
// one shortly before the window ends.
func (c *Controller) nextTry(spec store.HandOverSpec, o Outcome, attempt int) (next time.Time, again bool) {
	now := c.opts.Clock.Now()
	next = now.Add(c.backoff(attempt))
	if o.Result == ResultNotified {
		next = c.noticeEnd(spec)
		if !next.After(now) { // the holder extended the lease
			next = now.Add(c.opts.RetryInterval)
		}
	}
	if last := spec.Until.Add(-c.opts.RetryInterval); next.After(last) {
		return last, last.After(now)
	}
	return next, true
}

func (c *Controller) log(spec store.HandOverSpec, row config.Reservation, o Outcome, attempt int) {
	args := []any{"entry", spec.Entry, "reservation", row.Name, "result", o.Result, "attempt", attempt}
	if o.Deployment != "" {
		args = append(args, "deployment", o.Deployment)
	}
	if o.Reason != "" {
		args = append(args, "why", o.Reason)
	}
	if isSettled(o.Result) || o.Result == ResultNotified {
		c.opts.Log.Info("hand-over", args...)
		return
	}
	c.opts.Log.Warn("hand-over", args...)
}

// rowFailure says why a row failed; empty if it did not. A holder who has notice at the end of the window of a
// scheduled hand-over has extended the lease, which the broker allows as far as the time before the next batch suffices.
func rowFailure(spec store.HandOverSpec, r store.HandOverRow) string {
	if isSettled(Result(r.Result)) || Result(r.Result) == ResultNotified && spec.By == "" || r.Result == passed || r.Result == superseded {
		return ""
	}
	if r.Result == "" {
		return r.Reservation + ": not done"
	}
	return fmt.Sprintf("%s: %s: %s", r.Reservation, r.Result, r.Reason)
}
