package broker

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/firstlight/firstlight/internal/reservation/lease"
	"github.com/firstlight/firstlight/internal/reservation/store"
)

// await waits in the queues until all reservations are offered at once, and claims
// them. What can not be claimed after all (a ticket before this one came for it in
// between) is waited for again, and what was claimed is given back meanwhile. A store
// that is away for a while is waited for, too. A single reservation is queued for already.
func (b *Broker) wait(ctx context.Context, names []string, t lease.Ticket, req Request) ([]Grant, error) {
	if len(names) > 1 {
		if err := b.queue(ctx, names, t); err != nil {
			return nil, err
		}
	}
	w := waiter{Broker: b, reader: b.store, names: names, ticket: t, Request: req, changed: make(chan struct{}, 1)}
	w.interruptions = w.reader.Interruptions()
	w.nextHeartbeat = b.clock.Elapsed() + rand.N(t.Timeout()/heartbeats+1) //nolint:gosec // those who began to wait together do not write together
	if req.Wait {
		defer w.follow(ctx)()
	}
	for {
		grants, err := w.poll(ctx)
		if len(grants) == len(names) {
			return grants, nil
		}
		if err != nil && (!req.Wait || ctx.Err() != nil || !IsTransient(err)) {
			return nil, err
		}
		if err := w.sleep(ctx, err != nil); err != nil {
			return nil, fmt.Errorf("waiting for %v: %w", names, err)
		}
	}
}

// waiter is somebody in queues.
type waiter struct {
	*Broker
	Request
	names    []string
	ticket   lease.Ticket
	reported []Place
	// from is the store, or a copy of what is waited for; changed has a value when that
	// has changed.
	reader        reader
	changed       chan struct{}
	interruptions uint64 // interruptions of from
	// beat is when the store has to be told again that the waiter is there.
	nextHeartbeat time.Duration
}

// follow reads from a copy that a watch keeps new. Where the watch is cut, the copy
// itself asks the API server every few seconds.
func (w *waiter) follow(ctx context.Context) (stop func()) {
	c, stop := w.store.Follow(ctx, w.names, func() {
		select {
		case w.changed <- struct{}{}:
		default: // it is known already
		}
	})
	if c != nil {
		w.reader, w.interruptions = c, c.Interruptions()
	}
	return stop
}

// heartbeats are how many there are in the time that a waiter may be silent: one may
// fail, and is tried again for half of that time.
const heartbeats = 2

// heard sets the next heartbeat, a little sooner for some.
func (w *waiter) scheduleHeartbeat() {
	every := w.ticket.Timeout() / heartbeats
	w.nextHeartbeat = w.clock.Elapsed() + every - rand.N(every/8+1) //nolint:gosec // spreads writes, hides nothing
}

// rest waits until something may have changed: what is waited for, or the time that is
// left to a holder or to the next heartbeat.
func (w *waiter) sleep(ctx context.Context, failed bool) error {
	changed, most := w.changed, w.opts.Poll
	if failed {
		changed = nil // news that can not be read are no reason to ask again at once
	} else {
		most = min(most, max(w.nextHeartbeat-w.clock.Elapsed(), minSleep))
	}
	timer := time.NewTimer(most)
	defer timer.Stop()
	select {
	case <-changed:
	case <-timer.C:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	return nil
}

// soonest bounds how often a waiter looks.
const minSleep = time.Millisecond

// look sees how the ticket stands, claims what can be, and says that the waiter is there.
func (w *waiter) poll(ctx context.Context) ([]Grant, error) {
	places, list, err := w.places(ctx)
	w.resetIfInterrupted(w.reader, &w.interruptions)
	if err != nil {
		w.resetWatch(err)
		return nil, err
	}
	if w.Progress != nil && !slices.Equal(places, w.reported) {
		w.Progress(places)
		w.reported = places
	}
	if i := slices.IndexFunc(places, func(p Place) bool { return p.Position != 0 }); i < 0 {
		grants, err := w.claim(ctx)
		if err != nil || len(grants) == len(w.names) {
			return grants, err
		}
	} else if !w.Wait {
		p := places[i]
		return nil, &BusyError{Reservation: p.Reservation, State: p.State, Holder: p.Holder, Waiting: p.Position - 1}
	}
	if w.clock.Elapsed() >= w.nextHeartbeat {
		if err := w.heartbeat(ctx); err != nil {
			return nil, err
		}
		w.scheduleHeartbeat()
	}
	var errs []error
	for _, r := range list {
		errs = append(errs, w.expireOverdue(ctx, r))
	}
	return nil, errors.Join(errs...)
}

func (b *Broker) queue(ctx context.Context, names []string, t lease.Ticket) error {
	for _, name := range names {
		if err := b.change(ctx, name, func(r *lease.Record, now time.Time) error { r.Enqueue(t, now); return nil }); err != nil {
			return fmt.Errorf("queue for %s: %w", name, err)
		}
	}
	return nil
}

// ErrLost says that a ticket was dropped because this process was not heard of.
var ErrTicketLost = errors.New("the place in the queue was lost")

// places looks where the ticket is in each queue, and answers what it read.
func (w *waiter) places(ctx context.Context) ([]Place, []*store.Reservation, error) {
	var out []Place
	var list []*store.Reservation
	for _, name := range w.names {
		r, err := w.reader.Get(ctx, name)
		if err != nil {
			return nil, nil, err //nolint:wrapcheck // says what it was doing
		}
		place, ok := placeOf(r, w.ticket.ID)
		if !ok && w.reader.MayBeStale() { // it is not known there yet
			if r, err = w.store.GetUncached(ctx, name); err != nil {
				return nil, nil, err //nolint:wrapcheck // says what it was doing
			}
			place, ok = placeOf(r, w.ticket.ID)
		}
		if !ok {
			return nil, nil, fmt.Errorf("%w: nothing was heard of the ticket %s for %s in time", ErrTicketLost, w.ticket.ID, name)
		}
		out, list = append(out, place), append(list, r)
	}
	return out, list, nil
}

// placeIn is where a ticket is in the queue of a reservation; false: nowhere.
func placeOf(r *store.Reservation, id string) (Place, bool) {
	p := Place{Reservation: r.Name, State: r.Status.CurrentState()}
	if l := r.Status.Lease; l != nil {
		p.Holder = l.Holder
		if l.ID == id {
			return p, true
		}
	}
	i, waits := r.Status.Position(id)
	p.Position = i + 1
	return p, waits
}

// claim takes all that is offered; fewer than all, and nothing is kept.
func (w *waiter) claim(ctx context.Context) ([]Grant, error) {
	var out []Grant
	for _, name := range w.names {
		var got lease.Lease
		err := w.changeFrom(ctx, w.reader, name, func(r *lease.Record, now time.Time) (err error) {
			got, err = r.Claim(w.ticket.ID, now)
			return err //nolint:wrapcheck // decided on below
		})
		if errors.Is(err, lease.ErrNotOffered) {
			return nil, w.returnAll(ctx, out)
		}
		if err != nil {
			return nil, errors.Join(fmt.Errorf("claim %s: %w", name, err), w.returnAll(ctx, out))
		}
		out = append(out, Grant{Reservation: name, Lease: got})
	}
	return out, nil
}

func (b *Broker) returnAll(ctx context.Context, grants []Grant) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanupTimeout)
	defer cancel()
	var errs []error
	for _, g := range grants {
		if err := b.change(ctx, g.Reservation, func(r *lease.Record, now time.Time) error { return r.Return(g.Token, now) }); err != nil {
			errs = append(errs, fmt.Errorf("give %s back: %w", g.Reservation, err))
		}
	}
	return errors.Join(errs...)
}

// sayHere writes that the waiter is still there.
func (w *waiter) heartbeat(ctx context.Context) error {
	for _, name := range w.names {
		err := w.changeFrom(ctx, w.reader, name, func(r *lease.Record, _ time.Time) error { return r.Heartbeat(w.ticket.ID) })
		if errors.Is(err, lease.ErrTicketNotFound) {
			return fmt.Errorf("%w: of %s", ErrTicketLost, name)
		}
		if err != nil {
			return fmt.Errorf("wait for %s: %w", name, err)
		}
	}
	return nil
}
