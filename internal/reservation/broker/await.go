package broker

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/firstlight/firstlight/internal/reservation/lease"
	"github.com/firstlight/firstlight/internal/reservation/store"
)

// wait polls the queues until all reservations are offered at once, and claims them. If a claim
// fails because a ticket ahead took the offer, it returns the other claims and waits again.
// Transient errors of the store are retried. A single reservation is queued already.
func (b *Broker) wait(ctx context.Context, names []string, t lease.Ticket, req Request) ([]Grant, error) {
	if len(names) > 1 {
		if err := b.queue(ctx, names, t); err != nil {
			return nil, err
		}
	}
	w := waiter{Broker: b, reader: b.store, names: names, ticket: t, Request: req, changed: make(chan struct{}, 1), begun: map[string]claims{}}
	w.interruptions = w.reader.Interruptions()
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
			return nil, fmt.Errorf("wait for %v: %w", names, err)
		}
	}
}

type waiter struct {
	*Broker
	Request
	names    []string
	ticket   lease.Ticket
	reported []Place
	// reader is the store or a watched copy; changed receives a value when the copy changes.
	reader        reader
	changed       chan struct{}
	interruptions uint64 // of reader, as last seen
	// nextHeartbeat is the time of the next heartbeat, on the clock's Elapsed; nil before the
	// first poll.
	nextHeartbeat *time.Duration
	begun         map[string]claims // by reservation
}

// follow reads from a copy that a watch updates. If the watch is interrupted, the copy polls the
// API server every few seconds.
func (w *waiter) follow(ctx context.Context) (stop func()) {
	c, stop := w.store.Follow(ctx, w.names, func() {
		select {
		case w.changed <- struct{}{}:
		default: // a change is pending already
		}
	})
	if c != nil {
		w.reader, w.interruptions = c, c.Interruptions()
	}
	return stop
}

// heartbeats is the number of heartbeats within a ticket's timeout: one may fail and be retried
// for the rest of the timeout.
const heartbeats = 2

// heartbeatInterval returns the interval of heartbeats at the places of the ticket.
func (w *waiter) heartbeatInterval(places []Place) time.Duration {
	every := w.ticket.TimeoutAt(math.MaxInt)
	for _, p := range places {
		every = min(every, w.ticket.TimeoutAt(p.Position-1))
	}
	return every / heartbeats
}

// scheduleHeartbeat plans the next heartbeat, spread so that waiters do not write together, and
// brings it forward if the ticket moved up and its timeout became shorter.
func (w *waiter) scheduleHeartbeat(every time.Duration, sent bool) {
	now := w.clock.Elapsed()
	switch {
	case w.nextHeartbeat == nil:
		next := now + rand.N(every+1) //nolint:gosec // waiters may have started together
		w.nextHeartbeat = &next
	case sent:
		*w.nextHeartbeat = now + every - rand.N(every/8+1) //nolint:gosec // spreads writes
	default:
		*w.nextHeartbeat = min(*w.nextHeartbeat, now+every)
	}
}

// sleep waits for a change, the poll interval or the next heartbeat.
func (w *waiter) sleep(ctx context.Context, failed bool) error {
	changed, most := w.changed, w.opts.Poll
	if failed {
		changed = nil // do not retry a failed read at once because of a change
	} else {
		most = min(most, max(*w.nextHeartbeat-w.clock.Elapsed(), minSleep))
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

// minSleep bounds how often a waiter polls.
const minSleep = time.Millisecond

// poll reads the places in the queues, claims complete offers and sends heartbeats.
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
	every := w.heartbeatInterval(places)
	w.scheduleHeartbeat(every, false)
	if w.clock.Elapsed() >= *w.nextHeartbeat {
		if err := w.heartbeat(ctx); err != nil {
			return nil, err
		}
		w.scheduleHeartbeat(every, true)
	}
	var errs []error
	for _, r := range list {
		errs = append(errs, w.expireOverdue(ctx, r))
	}
	return nil, errors.Join(errs...)
}

func (b *Broker) queue(ctx context.Context, names []string, t lease.Ticket) error {
	for _, name := range names {
		if err := b.change(ctx, name, func(r *lease.Record, now time.Time) error {
			if err := b.checkClock(); err != nil {
				return err
			}
			r.Enqueue(t, now)
			return nil
		}); err != nil {
			return fmt.Errorf("queue for %s: %w", name, err)
		}
	}
	return nil
}

// ErrTicketLost means that the ticket was removed because it had no heartbeat within its timeout.
var ErrTicketLost = errors.New("the ticket is no longer in the queue")

// places returns the place in each queue and the reservations that it read.
func (w *waiter) places(ctx context.Context) ([]Place, []*store.Reservation, error) {
	var out []Place
	var list []*store.Reservation
	for _, name := range w.names {
		r, err := w.reader.Get(ctx, name)
		if err != nil {
			return nil, nil, err
		}
		place, ok := placeOf(r, w.ticket.ID)
		if !ok && w.reader.MayBeStale() { // the copy may be behind
			if r, err = w.store.GetUncached(ctx, name); err != nil {
				return nil, nil, err
			}
			place, ok = placeOf(r, w.ticket.ID)
		}
		if !ok {
			return nil, nil, fmt.Errorf("%w: no heartbeat of ticket %s for %s within its timeout", ErrTicketLost, w.ticket.ID, name)
		}
		out, list = append(out, place), append(list, r)
	}
	return out, list, nil
}

// placeOf returns the place of a ticket; ok is false if the reservation has none.
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

// claim claims all offers, or returns those claimed if one is not offered.
func (w *waiter) claim(ctx context.Context) ([]Grant, error) {
	var out []Grant
	for _, name := range w.names {
		var got lease.Lease
		begun := w.begun[name]
		if begun == nil {
			begun = claims{}
			w.begun[name] = begun
		}
		err := w.changeFrom(ctx, w.reader, name, func(r *lease.Record, now time.Time) (err error) {
			if err := w.checkClock(); err != nil { // it may have been set while the ticket waited
				return err
			}
			if got, err = r.Claim(w.ticket.ID, now); err == nil {
				begun.note(got.Token, w.holderTime())
			}
			return err
		})
		if errors.Is(err, lease.ErrNotOffered) {
			return nil, w.returnAll(ctx, out)
		}
		if err != nil {
			return nil, errors.Join(fmt.Errorf("claim %s: %w", name, err), w.returnAll(ctx, out))
		}
		out = append(out, begun.grant(name, got))
	}
	return out, nil
}

func (b *Broker) returnAll(ctx context.Context, grants []Grant) error {
	return atEnd(ctx, cancelTimeout, grants, func(ctx context.Context, g Grant) error {
		return b.do(ctx, "return", g.Reservation, func(r *lease.Record, now time.Time) error { return r.Return(g.Token, now) })
	})
}

func (w *waiter) heartbeat(ctx context.Context) error {
	for _, name := range w.names {
		err := w.changeFrom(ctx, w.reader, name, func(r *lease.Record, _ time.Time) error { return r.Heartbeat(w.ticket.ID) })
		if errors.Is(err, lease.ErrTicketNotFound) {
			return fmt.Errorf("%w: %s", ErrTicketLost, name)
		}
		if err != nil {
			return fmt.Errorf("wait for %s: %w", name, err)
		}
	}
	return nil
}
