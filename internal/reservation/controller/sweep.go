package controller

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/firstlight/firstlight/internal/reservation/broker"
	"github.com/firstlight/firstlight/internal/reservation/config"
	"github.com/firstlight/firstlight/internal/reservation/lease"
	"github.com/firstlight/firstlight/internal/reservation/store"
)

// sweep expires leases, notifies holders, cleans, and starts manual hand-overs, repeatedly until
// ctx ends.
func (c *Controller) sweep(ctx context.Context, stop context.CancelCauseFunc) {
	ticker := time.NewTicker(c.opts.SweepInterval)
	defer ticker.Stop()
	logged := map[string]string{}
	for {
		if err := c.sweepOnce(ctx, stop, logged); err != nil && ctx.Err() == nil {
			c.opts.Log.Warn("cannot read the store", "why", err)
			if !broker.IsTransient(err) && !errors.Is(err, store.ErrNotFound) {
				stop(err)
			}
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
	}
}

func (c *Controller) sweepOnce(ctx context.Context, stop context.CancelCauseFunc, logged map[string]string) error {
	c.expireOverdue(ctx, logged)
	all, err := c.opts.Store.List(ctx)
	if err != nil {
		return err
	}
	for _, r := range all {
		c.handleReservation(ctx, r, logged)
	}
	return c.startManual(ctx, stop)
}

// expireOverdue ends leases. An error may concern one reservation, and the others need the
// controller; a store that cannot be read is reported by the list that follows.
func (c *Controller) expireOverdue(ctx context.Context, logged map[string]string) {
	const all = "" // no reservation has this name
	err := c.opts.Broker.ExpireOverdue(ctx)
	switch {
	case err == nil:
		delete(logged, all)
	case ctx.Err() == nil && logged[all] != err.Error():
		logged[all] = err.Error()
		c.opts.Log.Warn("cannot end overdue leases", "why", err)
	}
}

// handleReservation does what one reservation needs.
func (c *Controller) handleReservation(ctx context.Context, r *store.Reservation, logged map[string]string) {
	row, known := c.opts.Registry.Find(r.Name)
	due := time.Time{}
	switch s := &r.Status; {
	case s.CurrentState() == lease.Leased && !s.Lease.Offered() && s.Lease.TermEndsAt != nil:
		due = s.Lease.TermEndsAt.Time
		if warn := due.Add(-c.opts.WarnBefore); !s.Lease.Available && s.Lease.Notice == nil {
			if c.opts.Clock.Now().Before(warn) {
				due = warn
			} else if c.opts.Clock.Now().Before(due) {
				c.warn(ctx, r)
			}
		}
	case needsManualCleaning(s):
		if logged[r.Name] != s.DirtyInfo.Reason {
			c.opts.Log.Error("blocked", "reservation", r.Name, "why", s.DirtyInfo.Reason, "remedy", lease.CleanCommand(r.Name))
		}
		logged[r.Name] = s.DirtyInfo.Reason
	case s.CurrentState() == lease.Dirty && !known:
		if why := NotInRegistry(r.Name); logged[r.Name] != why {
			c.opts.Log.Error("blocked", "reservation", r.Name, "why", why)
			logged[r.Name] = why
		}
	case s.CurrentState() == lease.Dirty:
		d := cmp.Or(s.DirtyInfo, &lease.DirtyInfo{}) // another writer may have left it out
		if due = c.cleanAt(r.Name, d); !due.After(c.opts.Clock.Now()) {
			c.startCleaning(ctx, row, d)
			due = time.Time{}
		}
	}
	if !needsManualCleaning(&r.Status) && (known || r.Status.CurrentState() != lease.Dirty) {
		delete(logged, r.Name)
	}
	c.idle.Set(r.Name, due)
}

func (c *Controller) warn(ctx context.Context, r *store.Reservation) {
	l := r.Status.Lease
	err := c.opts.Broker.Notify(ctx, r.Name, l.Token, HolderName, "its term ends then; to extend it: firstlight reservation extend "+r.Name+" --by 30m", l.TermEndsAt.Time)
	if err != nil {
		if !broker.IsLost(err) && ctx.Err() == nil {
			c.opts.Log.Warn("holder not notified", "reservation", r.Name, "holder", l.Holder, "why", err)
		}
		return
	}
	c.opts.Log.Info("warned", "reservation", r.Name, "holder", l.Holder, "ends", l.TermEndsAt.UTC())
}

// cleanAt returns the time of the next cleaning, later after each failure in the same dirty state.
func (c *Controller) cleanAt(name string, d *lease.DirtyInfo) time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	if next := c.clean[name]; next.since.Equal(d.Since.Time) {
		return next.at
	}
	return time.Time{}
}

// startCleaning cleans a reservation unless it is locked.
func (c *Controller) startCleaning(ctx context.Context, row config.Reservation, d *lease.DirtyInfo) {
	done, ok := c.locks.clean(row.Name)
	if !ok {
		return
	}
	end := c.idle.Begin()
	c.workers.Go(func() {
		defer end()
		defer done()
		o, err := c.opts.Rotation.Clean(ctx, row, HolderName, false)
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			o = o.fail(err)
		}
		next := time.Time{}
		if o.Result == ResultFailed {
			next = c.opts.Clock.Now().Add(c.backoff(d.Attempts + 1))
			c.opts.Log.Warn("cleaning failed", "reservation", row.Name, "left-by", d.Holder, "token", d.Token, "attempts", d.Attempts+1, "why", o.Reason, "again", next.UTC())
		}
		if o.Result == ResultCleaned {
			c.opts.Log.Info("cleaned", "reservation", row.Name, "left-by", d.Holder, "token", d.Token)
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		c.clean[row.Name] = nextClean{d.Since.Time, next}
		c.idle.Set(row.Name, next)
	})
}

// startManual starts hand-overs that were requested manually.
func (c *Controller) startManual(ctx context.Context, stop context.CancelCauseFunc) error {
	list, err := c.opts.Store.ListManualHandOvers(ctx)
	if err != nil {
		return err
	}
	for _, h := range list {
		if h.Status.Finished != nil || c.isStarted(h.Name) {
			continue
		}
		if _, err := c.opts.Schedule.Entry(h.Spec.Entry); err != nil {
			continue // of another schedule
		}
		if c.opts.Broker.CheckClock() != nil {
			return nil //nolint:nilerr // expireOverdue logs it
		}
		if !c.opts.Clock.Now().Before(h.Spec.Until.Time) {
			if err := c.recordMissed(ctx, h); err != nil {
				return fmt.Errorf("close %s: %w", h.Name, err)
			}
			continue
		}
		c.opts.Log.Info("started manually", "entry", h.Spec.Entry, "by", h.Spec.By)
		c.start(ctx, stop, h)
	}
	return nil
}

func (c *Controller) isStarted(name string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.started[name] != nil
}
