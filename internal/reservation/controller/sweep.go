package controller

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/firstlight/firstlight/internal/reservation/broker"
	"github.com/firstlight/firstlight/internal/reservation/lease"
	"github.com/firstlight/firstlight/internal/reservation/registry"
	"github.com/firstlight/firstlight/internal/reservation/rotation"
	"github.com/firstlight/firstlight/internal/reservation/store"
)

// sweep ends what is over, warns, cleans, and goes on with what somebody began by hand,
// again and again until ctx ends.
func (c *Controller) sweep(ctx context.Context, stop context.CancelCauseFunc) {
	ticker := time.NewTicker(c.opts.Every)
	defer ticker.Stop()
	said := map[string]string{}
	for {
		if err := c.round(ctx, stop, said); err != nil && ctx.Err() == nil {
			c.opts.Log.Warn("the store could not be asked", "why", err)
			if !broker.Passing(err) && !errors.Is(err, store.ErrNotFound) {
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

func (c *Controller) round(ctx context.Context, stop context.CancelCauseFunc, said map[string]string) error {
	if err := c.opts.Broker.Tick(ctx); err != nil {
		return err //nolint:wrapcheck // says what it was doing
	}
	all, err := c.opts.Store.List(ctx)
	if err != nil {
		return err //nolint:wrapcheck // says what it was doing
	}
	for _, r := range all {
		c.look(ctx, r, said)
	}
	return c.byHand(ctx, stop)
}

// look does what one reservation needs.
func (c *Controller) look(ctx context.Context, r *store.Reservation, said map[string]string) {
	row, known := c.opts.Registry.Find(r.Name)
	due := time.Time{}
	switch s := &r.Status; {
	case s.Now() == lease.Leased && !s.Lease.Offered() && s.Lease.Ends != nil:
		due = s.Lease.Ends.Time
		if warn := due.Add(-c.opts.Warn); !s.Lease.Open && s.Lease.Notice == nil {
			if c.opts.Clock.Now().Before(warn) {
				due = warn
			} else if c.opts.Clock.Now().Before(due) {
				c.warn(ctx, r)
			}
		}
	case dirtyByHand(s):
		if said[r.Name] != s.Dirt.Why {
			c.opts.Log.Error("blocked", "reservation", r.Name, "why", s.Dirt.Why, "remedy", "firstlight reservation rotation down --reservation "+r.Name)
		}
		said[r.Name] = s.Dirt.Why
	case s.Now() == lease.Dirty && known:
		if due = c.cleanAt(r.Name); !due.After(c.opts.Clock.Now()) {
			c.startCleaning(ctx, row, s.Dirt)
			due = time.Time{}
		}
	}
	c.agenda.Set(r.Name, due)
}

func (c *Controller) warn(ctx context.Context, r *store.Reservation) {
	l := r.Status.Lease
	err := c.opts.Broker.Notify(ctx, r.Name, l.Token, Name, "its term ends then; to have it longer: firstlight reservation extend "+r.Name, l.Ends.Time)
	if err != nil {
		if !broker.Gone(err) && ctx.Err() == nil {
			c.opts.Log.Warn("the holder was not warned", "reservation", r.Name, "holder", l.Holder, "why", err)
		}
		return
	}
	c.opts.Log.Info("warned", "reservation", r.Name, "holder", l.Holder, "ends", l.Ends.UTC())
}

// cleanAt is when something dirty is cleaned: at once, or when it failed, later.
func (c *Controller) cleanAt(name string) time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.clean[name]
}

// startCleaning takes down what a lease has left, where nobody works at it.
func (c *Controller) startCleaning(ctx context.Context, row registry.Reservation, d *lease.Dirt) {
	done, ok := c.turns.clean(row.Name)
	if !ok {
		return
	}
	end := c.agenda.Begin()
	c.works.Go(func() {
		defer end()
		defer done()
		o, err := c.opts.Rotation.Clean(ctx, row, Name, false)
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			o.Result, o.Why = rotation.Failed, err.Error()
		}
		next := time.Time{}
		if o.Result == rotation.Failed {
			next = c.opts.Clock.Now().Add(c.pause(d.Attempts + 1))
			c.opts.Log.Warn("cleaning failed", "reservation", row.Name, "left-by", d.Holder, "token", d.Token, "attempts", d.Attempts+1, "why", o.Why, "again", next.UTC())
		}
		if o.Result == rotation.Cleaned {
			c.opts.Log.Info("cleaned", "reservation", row.Name, "left-by", d.Holder, "token", d.Token)
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		c.clean[row.Name] = next
		c.agenda.Set(row.Name, next)
	})
}

// byHand goes on with hand-overs that somebody else began.
func (c *Controller) byHand(ctx context.Context, stop context.CancelCauseFunc) error {
	list, err := c.opts.Store.HandOversByHand(ctx)
	if err != nil {
		return err //nolint:wrapcheck // says what it was doing
	}
	for _, h := range list {
		if h.Status.Finished != nil || c.isBegun(h.Name) {
			continue
		}
		if _, err := c.opts.Schedule.Entry(h.Spec.Entry); err != nil {
			continue // of another schedule
		}
		if !c.opts.Clock.Now().Before(h.Spec.Until.Time) {
			if err := c.missed(ctx, h); err != nil {
				return fmt.Errorf("close %s: %w", h.Name, err)
			}
			continue
		}
		c.opts.Log.Info("begun by hand", "entry", h.Spec.Entry, "by", h.Spec.By)
		c.start(ctx, stop, h)
	}
	return nil
}

func (c *Controller) isBegun(name string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.begun[name] != nil
}
