package broker

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/firstlight/firstlight/internal/reservation/lease"
	"github.com/firstlight/firstlight/internal/reservation/store"
)

// watched is something that has to be heard of, as it was last seen to change.
type watched struct {
	state string
	since time.Duration
}

// silent says for how long nothing was heard of something that this broker has
// watched, by its own clock.
func (b *Broker) silent(key, state string) time.Duration {
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

// deafTo starts to watch everything anew where the store could not be reached: nobody
// could be heard of meanwhile, and whoever is there has a full period to be heard again.
func (b *Broker) deafTo(err error) {
	if errors.Is(err, store.ErrConflict) || !Passing(err) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return
	}
	b.watchAnew()
}

// watchAnew gives everything that is watched a full period from now.
func (b *Broker) watchAnew() {
	b.mu.Lock()
	defer b.mu.Unlock()
	clear(b.watched)
}

// attend watches everything anew where a copy was interrupted since it was so many times.
func (b *Broker) attend(c copied, known *uint64) {
	n := c.Interrupted()
	b.mu.Lock()
	defer b.mu.Unlock()
	if n != *known {
		*known = n
		clear(b.watched)
	}
}

// Tick ends what is over: leases that were not renewed, cleaners and waiters of which
// nothing was heard. It has to be called often, for the same reservations; without
// names, for all.
func (b *Broker) Tick(ctx context.Context, names ...string) error {
	var list []*store.Reservation
	if len(names) == 0 {
		all, err := b.store.List(ctx)
		if err != nil {
			b.deafTo(err)
			return fmt.Errorf("end what is over: %w", err)
		}
		list = all
		b.forget(all)
	}
	for _, name := range names {
		r, err := b.store.Get(ctx, name)
		if err != nil {
			b.deafTo(err)
			return fmt.Errorf("end what is over: %w", err)
		}
		list = append(list, r)
	}
	b.attend(b.store, &b.interrupted)
	var errs []error
	for _, r := range list {
		if err := b.tick(ctx, r); err != nil {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

func (b *Broker) tick(ctx context.Context, r *store.Reservation) error {
	var errs []error
	if why := b.over(r.Name, r.Status.Lease); why != "" {
		token, heard := r.Status.Lease.Token, r.Status.Lease.Heard
		errs = append(errs, b.do(ctx, "end the lease of", r.Name, func(rec *lease.Record, now time.Time) error {
			if rec.Lease == nil || rec.Lease.Token != token || rec.Lease.Heard != heard || b.over(r.Name, rec.Lease) == "" {
				return nil // heard of after all, ended by another broker, or the store was away meanwhile
			}
			return rec.Expire(token, why, now)
		}))
	}
	for _, t := range r.Status.Queue {
		if b.waiting(r.Name, t) < t.Wait() {
			continue
		}
		errs = append(errs, b.do(ctx, "end the queue of", r.Name, func(rec *lease.Record, now time.Time) error {
			i, waits := rec.Position(t.ID)
			if !waits || rec.Queue[i].Heard != t.Heard || b.waiting(r.Name, t) < t.Wait() {
				return nil
			}
			return rec.Lose(t.ID, now)
		}))
	}
	return errors.Join(errs...)
}

// waiting says for how long nothing was heard of somebody who waits.
func (b *Broker) waiting(name string, t lease.Ticket) time.Duration {
	return b.silent(name+"/"+t.ID, strconv.FormatInt(t.Heard, 10))
}

// over says why a lease has come to its end; empty: it has not.
func (b *Broker) over(name string, l *lease.Lease) string {
	if l == nil {
		return ""
	}
	silence := b.silent(name+"/"+l.ID, fmt.Sprint(l.Token, l.Heard, l.Offered(), l.Ends))
	switch {
	case l.Offered():
		if wait := l.Wait(); silence >= wait {
			return fmt.Sprintf("offered to %s and not claimed, who was not heard of for %s", l.Holder, wait)
		}
	case l.Period.Duration > 0 && silence >= l.Period.Duration:
		return fmt.Sprintf("%s has not renewed it for %s", l.Holder, l.Period.Duration)
	case l.Ends != nil && b.clock.Now().After(l.Ends.Time) && silence >= b.opts.Grace:
		return fmt.Sprintf("the term of %s was over at %s", l.Holder, l.Ends.UTC().Format(time.RFC3339))
	}
	return ""
}

// forget drops what is no more.
func (b *Broker) forget(all []*store.Reservation) {
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

// List are all reservations, as the store answers. They must not be changed.
func (b *Broker) List(ctx context.Context) ([]*store.Reservation, error) {
	return b.store.List(ctx) //nolint:wrapcheck // says what it was doing
}

// Queue are the tickets that wait for a reservation, as the store has them.
func (b *Broker) Queue(ctx context.Context, name string) ([]lease.Ticket, error) {
	r, err := b.store.Fresh(ctx, name)
	if err != nil {
		return nil, fmt.Errorf("read the queue: %w", err)
	}
	return slices.Clone(r.Status.Queue), nil
}
