package controller

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/firstlight/firstlight/internal/reservation/calendar"
	"github.com/firstlight/firstlight/internal/reservation/config"
	"github.com/firstlight/firstlight/internal/reservation/store"
)

// rows returns the reservations of an action.
func (c *Controller) rows(action calendar.Action) []config.Reservation {
	var out []config.Reservation
	for _, row := range c.opts.Registry.Reservations {
		if action == calendar.Batch && len(row.Nightly()) > 0 || action != calendar.Batch && row.DaytimeIntent != "" {
			out = append(out, row)
		}
	}
	return out
}

// newRecord returns the record of a hand-over, and whether it was started already.
func (c *Controller) newRecord(h *store.HandOver) (l *runRecord, again bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if l, again = c.started[h.Name]; !again {
		l = newRunRecord(c.opts.Store, h)
		c.started[h.Name] = l
	}
	return l, again
}

// start runs a hand-over at all reservations concurrently and finishes it. A failure to record
// ends the controller.
func (c *Controller) start(ctx context.Context, stop context.CancelCauseFunc, h *store.HandOver) *runRecord {
	l, again := c.newRecord(h)
	if again {
		return l
	}
	action := calendar.Action(h.Spec.Action)
	rows := c.rows(action)
	c.trackHandOver(h, rows)
	var mu sync.Mutex
	left := len(rows) + 1
	ended := func() (last bool) {
		mu.Lock()
		defer mu.Unlock()
		left--
		return left == 0
	}
	work := func(f func() error) {
		end := c.idle.Begin()
		c.workers.Go(func() {
			defer end()
			err := f()
			if err == nil && ended() {
				err = c.finish(ctx, l)
			}
			if err != nil && ctx.Err() == nil {
				stop(err)
			}
		})
	}
	for _, row := range rows {
		if l.row(row.Name).Ended != nil {
			ended()
			continue
		}
		work(func() error {
			if action == calendar.Batch {
				return c.runBatch(ctx, l, row)
			}
			return c.rotate(ctx, l, row)
		})
	}
	work(func() error { return nil })
	return l
}

// trackHandOver remembers a hand-over.
func (c *Controller) trackHandOver(h *store.HandOver, rows []config.Reservation) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.known[h.Name] = h.Spec.At.Time
	if calendar.Action(h.Spec.Action) != calendar.Batch {
		return
	}
	for _, row := range rows {
		if at := h.Spec.At.Time; at.After(c.newest[row.Name]) {
			c.newest[row.Name] = at
		}
	}
}

// newestBatch returns the due time of the newest batch of a reservation.
func (c *Controller) newestBatch(reservation string) time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.newest[reservation]
}

var errNoRows = errors.New("the registry has no reservation for it")

// finish records failures and deletes old records.
func (c *Controller) finish(ctx context.Context, l *runRecord) error {
	var lacks []string
	h := l.now()
	for _, row := range h.Status.Rows {
		if reason := rowFailure(h.Spec, row); reason != "" {
			lacks = append(lacks, reason)
		}
	}
	if len(h.Status.Rows) == 0 {
		lacks = append(lacks, errNoRows.Error())
	}
	if calendar.Action(h.Spec.Action) == calendar.Down {
		more, err := c.unregistered(ctx)
		if err != nil {
			return err
		}
		lacks = append(lacks, more...)
	}
	err := l.write(ctx, func(s *store.HandOverStatus) { s.Finished, s.Failed = c.stamp(), strings.Join(lacks, "; ") })
	if err != nil {
		return err
	}
	close(l.done)
	if len(lacks) > 0 {
		c.opts.Log.Error("hand-over failed", "entry", h.Spec.Entry, "due", h.Spec.At.UTC(), "why", strings.Join(lacks, "; "))
	} else {
		c.opts.Log.Info("hand-over finished", "entry", h.Spec.Entry, "due", h.Spec.At.UTC())
	}
	return c.prune(ctx)
}

// prune deletes hand-overs and archived events after their retention. Events that cannot be deleted
// only take space.
func (c *Controller) prune(ctx context.Context) error {
	oldest := c.opts.Clock.Now().Add(-c.opts.Retention)
	c.mu.Lock()
	var old []string
	for name, at := range c.known {
		if at.Before(oldest) {
			old = append(old, name)
			delete(c.known, name)
			delete(c.started, name)
		}
	}
	c.mu.Unlock()
	var errs []error
	for _, name := range old {
		err := retryTransient(ctx, func() error { return c.opts.Store.DeleteHandOver(ctx, name) })
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			errs = append(errs, err)
		}
	}
	if err := c.opts.Store.PruneHistory(ctx, oldest, c.opts.HistoryLimit); err != nil && ctx.Err() == nil {
		c.opts.Log.Warn("old history not deleted", "why", err)
	}
	return errors.Join(errs...)
}
