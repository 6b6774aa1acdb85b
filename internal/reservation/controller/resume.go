package controller

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/firstlight/firstlight/internal/reservation/calendar"
	"github.com/firstlight/firstlight/internal/reservation/matrix"
	"github.com/firstlight/firstlight/internal/reservation/store"
)

// maxLookback bounds the search for missed hand-overs.
const maxLookback = 31 * 24 * time.Hour

// resume continues unfinished hand-overs and starts due ones whose window is open. Missed ones are
// recorded as failed. It returns the time from which the schedule counts.
func (c *Controller) resume(ctx context.Context, stop context.CancelCauseFunc) (time.Time, error) {
	if err := c.awaitClock(ctx); err != nil {
		return time.Time{}, err
	}
	now := c.opts.Clock.Now()
	var list []*store.HandOver
	err := retryTransient(ctx, func() (err error) {
		list, err = c.opts.Store.ListHandOvers(ctx, time.Time{})
		return err
	})
	if err != nil {
		return now, err
	}
	list = slices.DeleteFunc(list, func(h *store.HandOver) bool { // of a former schedule
		_, err := c.opts.Schedule.Entry(h.Spec.Entry)
		return err != nil
	})
	last := time.Time{}
	for _, h := range list {
		c.trackHandOver(h, c.rows(calendar.Action(h.Spec.Action)))
		if h.Spec.By == "" && h.Spec.At.After(last) {
			last = h.Spec.At.Time
		}
	}
	for _, h := range list {
		switch {
		case h.Status.Finished != nil:
		case now.Before(h.Spec.Until.Time):
			c.opts.Log.Info("resuming", "entry", h.Spec.Entry, "due", h.Spec.At.UTC())
			c.start(ctx, stop, h)
		default:
			if err := c.recordMissed(ctx, h); err != nil {
				return now, err
			}
		}
	}
	since, err := c.missedOccurrences(last, now)
	if err != nil {
		return now, err
	}
	for _, o := range since {
		if o.Until.After(now) || !last.IsZero() {
			if err := c.startDue(ctx, stop, o, true); err != nil {
				return now, err
			}
		}
	}
	return now, nil
}

// missedOccurrences returns the occurrences between the last started one and now; without one,
// those whose window may be open.
func (c *Controller) missedOccurrences(last, now time.Time) ([]calendar.Occurrence, error) {
	var out []calendar.Occurrence
	for _, e := range c.opts.Schedule.Entries() {
		from := now.Add(-e.Window.Duration)
		if !last.IsZero() {
			from = last
		}
		if oldest := now.Add(-maxLookback); from.Before(oldest) {
			from = oldest
		}
		for {
			o, err := c.opts.Schedule.Next(e.Name, from)
			if err != nil {
				return nil, fmt.Errorf("find missed occurrences: %w", err)
			}
			if o.At.After(now) {
				break
			}
			out = append(out, o)
			from = o.At
		}
	}
	slices.SortStableFunc(out, func(a, b calendar.Occurrence) int { return cmp.Or(a.At.Compare(b.At)) })
	return out, nil
}

// recordMissed finishes a hand-over whose window has ended.
func (c *Controller) recordMissed(ctx context.Context, h *store.HandOver) error {
	l := newRunRecord(c.opts.Store, h)
	const why = "its window ended before a controller could continue it"
	action := calendar.Action(h.Spec.Action)
	err := l.write(ctx, func(s *store.HandOverStatus) {
		for _, row := range c.rows(action) {
			r := s.Row(row.Name)
			if r.Ended != nil {
				continue
			}
			pending := matrix.NotStarted
			if c.newestBatch(row.Name).After(h.Spec.At.Time) {
				pending = matrix.Superseded
			}
			r.Cloud, r.Cells, r.Ended = string(row.Cloud), concludeCells(r.Cells, pending), c.stamp()
			r.Result, r.Reason = cmp.Or(r.Result, blocked), why
			if isSettled(Result(r.Result)) || Result(r.Result) == ResultNotified || r.Result == passed {
				r.Result = blocked
			}
		}
	})
	if err != nil {
		return err
	}
	return c.finish(ctx, l)
}
