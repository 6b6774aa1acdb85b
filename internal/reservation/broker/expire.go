package broker

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/firstlight/firstlight/internal/reservation/lease"
	"github.com/firstlight/firstlight/internal/reservation/store"
)

// watched is a lease or ticket that must send heartbeats, and when it last changed.
type watched struct {
	state string
	since time.Duration
}

// silentFor returns for how long a watched lease or ticket has not changed, on the broker's clock.
func (b *Broker) silentFor(key, state string) time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := b.clock.Elapsed()
	w, ok := b.watched[key]
	if !ok || w.state != state {
		b.watched[key] = watched{state: state, since: now}
		return 0
	}
	return now - w.since
}

// resetWatch restarts all intervals after an error of the store: heartbeats may have been missed.
func (b *Broker) resetWatch(err error) {
	if errors.Is(err, store.ErrConflict) || !IsTransient(err) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return
	}
	b.resetAllWatches()
}

func (b *Broker) resetAllWatches() {
	b.mu.Lock()
	defer b.mu.Unlock()
	clear(b.watched)
}

// resetIfInterrupted restarts all intervals if the reader was interrupted since the last call.
func (b *Broker) resetIfInterrupted(c reader, known *uint64) {
	n := c.Interruptions()
	b.mu.Lock()
	defer b.mu.Unlock()
	if n != *known {
		*known = n
		clear(b.watched)
	}
}

// ExpireOverdue ends leases that were not renewed, and cleaners and waiters without a heartbeat.
// It must be called often for the same reservations; without names, for all.
func (b *Broker) ExpireOverdue(ctx context.Context, names ...string) error {
	var list []*store.Reservation
	if len(names) == 0 {
		all, err := b.store.List(ctx)
		if err != nil {
			b.resetWatch(err)
			return fmt.Errorf("expire overdue leases: %w", err)
		}
		list = all
		b.pruneWatched(all)
	}
	for _, name := range names {
		r, err := b.store.Get(ctx, name)
		if err != nil {
			b.resetWatch(err)
			return fmt.Errorf("expire overdue leases: %w", err)
		}
		list = append(list, r)
	}
	b.resetIfInterrupted(b.store, &b.interrupted)
	var errs []error
	for _, r := range list {
		if err := b.expireOverdue(ctx, r); err != nil {
			errs = append(errs, err)
		}
	}
	if err := b.checkClock(); err != nil && len(names) == 0 { // one that waits is refused at its start
		errs = append(errs, fmt.Errorf("terms are not ended: %w", err))
	}
	return errors.Join(errs...)
}

func (b *Broker) expireOverdue(ctx context.Context, r *store.Reservation) error {
	var errs []error
	if reason, byTerm := b.expiryReason(r.Name, r.Status.Lease); reason != "" && (!byTerm || b.mayEndTerm(ctx, r.Name)) {
		token, heard := r.Status.Lease.Token, r.Status.Lease.Heartbeats
		errs = append(errs, b.do(ctx, "expire the lease of", r.Name, func(rec *lease.Record, now time.Time) error {
			if rec.Lease == nil || rec.Lease.Token != token || rec.Lease.Heartbeats != heard {
				return nil // renewed in the meantime, or expired by another broker
			}
			if still, _ := b.expiryReason(r.Name, rec.Lease); still == "" {
				return nil // the store was unreachable, or the clock was set
			}
			return rec.Expire(token, reason, now)
		}))
	}
	for i, t := range r.Status.Queue {
		if b.waiterSilence(r.Name, t, i) < t.TimeoutAt(i) {
			continue
		}
		errs = append(errs, b.do(ctx, "time out a ticket of", r.Name, func(rec *lease.Record, now time.Time) error {
			i, waits := rec.Position(t.ID)
			if !waits || rec.Queue[i].Heartbeats != t.Heartbeats || b.waiterSilence(r.Name, t, i) < t.TimeoutAt(i) {
				return nil // alive, or moved up, which restarts its shorter timeout
			}
			return rec.TimeOutTicket(t.ID, now)
		}))
	}
	return errors.Join(errs...)
}

// mayEndTerm compares the clock with that of the API server at the end of a term, which is a time of day: a clock that
// was set ahead would end the terms of all holders.
func (b *Broker) mayEndTerm(ctx context.Context, name string) bool {
	if _, err := b.store.GetUncached(ctx, name); err != nil {
		b.resetWatch(err)
		return false
	}
	return b.checkClock() == nil
}

// waiterSilence returns the time since the last heartbeat of a ticket, or since its timeout
// became shorter because it moved up.
func (b *Broker) waiterSilence(name string, t lease.Ticket, position int) time.Duration {
	return b.silentFor(name+"/"+t.ID, fmt.Sprint(t.Heartbeats, t.TimeoutAt(position)))
}

// expiryReason says why a lease has expired; empty if it has not. byTerm: its term is over.
func (b *Broker) expiryReason(name string, l *lease.Lease) (reason string, byTerm bool) {
	if l == nil {
		return "", false
	}
	silence := b.silentFor(name+"/"+l.ID, fmt.Sprint(l.Token, l.Heartbeats, l.Offered(), l.TermEndsAt))
	switch {
	case l.Offered():
		if wait := l.Timeout(); silence >= wait {
			return fmt.Sprintf("offered to %s and not claimed: no heartbeat for %s", l.Holder, wait), false
		}
	case l.RenewInterval.Duration > 0 && silence >= l.RenewInterval.Duration:
		return fmt.Sprintf("%s has not renewed it for %s", l.Holder, l.RenewInterval.Duration), false
	case l.TermEndsAt != nil && b.clock.Now().After(l.TermEndsAt.Time) && silence >= b.opts.Grace:
		return fmt.Sprintf("the term of %s ended at %s", l.Holder, l.TermEndsAt.UTC().Format(time.RFC3339)), true
	}
	return "", false
}

// pruneWatched removes leases and tickets that no longer exist.
func (b *Broker) pruneWatched(all []*store.Reservation) {
	keep := map[string]bool{}
	for _, r := range all {
		if r.Status.Lease != nil {
			keep[r.Name+"/"+r.Status.Lease.ID] = true
		}
		for _, t := range r.Status.Queue {
			keep[r.Name+"/"+t.ID] = true
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for key := range b.watched {
		if !keep[key] {
			delete(b.watched, key)
		}
	}
}

// List returns all reservations. They must not be changed.
func (b *Broker) List(ctx context.Context) ([]*store.Reservation, error) {
	return b.store.List(ctx)
}

// Queue returns the tickets that wait for a reservation, uncached.
func (b *Broker) Queue(ctx context.Context, name string) ([]lease.Ticket, error) {
	r, err := b.store.GetUncached(ctx, name)
	if err != nil {
		return nil, fmt.Errorf("read the queue: %w", err)
	}
	return slices.Clone(r.Status.Queue), nil
}
