package controller

import (
	"context"
	"errors"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/firstlight/firstlight/internal/poll"
	"github.com/firstlight/firstlight/internal/reservation/broker"
	"github.com/firstlight/firstlight/internal/reservation/calendar"
	"github.com/firstlight/firstlight/internal/reservation/store"
)

// Run resumes unfinished hand-overs and executes the schedule until ctx ends, which is not an error.
// The next leader resumes unfinished work.
func (c *Controller) Run(ctx context.Context) error {
	return c.runWithSweep(ctx, func(ctx context.Context, stop context.CancelCauseFunc) error {
		after, err := c.resume(ctx, stop)
		if err != nil {
			return err
		}
		for {
			next, err := c.opts.Schedule.Upcoming(after)
			if err != nil {
				return fmt.Errorf("find due entries: %w", err)
			}
			if err := c.idle.Wait(ctx, next[0].At); err != nil {
				return err
			}
			if err := c.awaitClock(ctx); err != nil {
				return err
			}
			if c.opts.Clock.Now().Before(next[0].At) {
				continue // the clock was ahead
			}
			after = next[0].At
			for _, o := range next {
				if o.At.Equal(after) {
					if err := c.startDue(ctx, stop, o, false); err != nil {
						return err
					}
				}
			}
		}
	})
}

// Once runs one hand-over now, manually, to its end. Its window is as long as the entry's. It
// returns nil if ctx ends first.
func (c *Controller) Once(ctx context.Context, entry, by string) (*store.HandOver, error) {
	spec, err := ManualHandOver(c.opts.Schedule, entry, by, c.opts.Clock.Now())
	if err != nil {
		return nil, err
	}
	var done *store.HandOver
	err = c.runWithSweep(ctx, func(ctx context.Context, stop context.CancelCauseFunc) error {
		h, err := c.open(ctx, spec)
		if err != nil {
			return err
		}
		l := c.start(ctx, stop, h)
		select {
		case <-l.done:
			done = l.now()
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	})
	return done, err
}

// ManualHandOver returns a hand-over that by starts manually.
func ManualHandOver(s *calendar.Schedule, entry, by string, now time.Time) (store.HandOverSpec, error) {
	e, err := s.Entry(entry)
	if err != nil {
		return store.HandOverSpec{}, err
	}
	now = now.Truncate(time.Second)
	return store.HandOverSpec{Entry: e.Name, Action: string(e.Action), At: metav1.NewTime(now), Until: metav1.NewTime(now.Add(e.Window.Duration)), By: by}, nil
}

// runWithSweep runs work and the sweep, and waits for all workers.
func (c *Controller) runWithSweep(ctx context.Context, work func(context.Context, context.CancelCauseFunc) error) error {
	inner, stop := context.WithCancelCause(ctx)
	swept := make(chan struct{})
	go func() {
		defer close(swept)
		c.sweep(inner, stop)
	}()
	end := c.idle.Begin()
	err := work(inner, stop)
	end()
	stop(err)
	<-swept
	c.workers.Wait()
	if ctx.Err() != nil {
		return nil //nolint:nilerr // it was told to end
	}
	return err
}

// startDue starts a due hand-over, or records it as missed.
func (c *Controller) startDue(ctx context.Context, stop context.CancelCauseFunc, o calendar.Occurrence, late bool) error {
	h, err := c.open(ctx, store.HandOverSpec{Entry: o.Entry, Action: string(o.Action), At: metav1.NewTime(o.At.UTC()), Until: metav1.NewTime(o.Until.UTC())})
	if err != nil || h.Status.Finished != nil {
		return err
	}
	if !c.opts.Clock.Now().Before(o.Until) {
		return c.recordMissed(ctx, h)
	}
	if late {
		c.opts.Log.Warn("late", "entry", o.Entry, "due", o.At.UTC())
	}
	c.start(ctx, stop, h)
	return nil
}

// awaitClock waits while the clock of this machine is wrong: hand-overs would start, and be recorded as missed, at
// other times than those of the schedule. The request measures the clock.
func (c *Controller) awaitClock(ctx context.Context) error {
	for logged := false; ; logged = true {
		err := retryTransient(ctx, func() error {
			_, err := c.opts.Store.ListManualHandOvers(ctx)
			return err
		})
		if err != nil {
			return err
		}
		wrong := c.opts.Broker.CheckClock()
		if wrong == nil {
			return nil
		}
		if !logged {
			c.opts.Log.Error("no hand-over starts", "why", wrong)
		}
		if err := poll.Sleep(ctx, c.opts.SweepInterval); err != nil {
			return err
		}
	}
}

// open records the start of a hand-over. Transient errors are retried.
func (c *Controller) open(ctx context.Context, spec store.HandOverSpec) (h *store.HandOver, err error) {
	err = retryTransient(ctx, func() error {
		h, err = c.opts.Store.EnsureHandOver(ctx, spec)
		return err
	})
	return h, err
}

// retryPause is the pause after a transient error of the store.
const retryPause = 250 * time.Millisecond

// retryTransient repeats f after transient errors of the store until ctx ends, and returns its
// last error.
func retryTransient(ctx context.Context, f func() error) error {
	var last error
	_ = wait.PollUntilContextCancel(ctx, retryPause, true, func(context.Context) (bool, error) { // last says more than its error
		last = f()
		return last == nil || !broker.IsTransient(last), nil
	})
	if last != nil && ctx.Err() != nil {
		return errors.Join(context.Cause(ctx), last)
	}
	return last
}
