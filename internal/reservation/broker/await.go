package broker

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/firstlight/firstlight/internal/reservation/lease"
)

// await stands in the queues until all reservations are offered at once, and claims
// them. What can not be claimed after all (a ticket before this one came for it in
// between) is waited for again, and what was claimed is given back meanwhile. A store
// that is away for a while is waited for, too.
func (b *Broker) await(ctx context.Context, names []string, t lease.Ticket, req Request) ([]Grant, error) {
	if err := b.queue(ctx, names, t); err != nil {
		return nil, err
	}
	w := waiter{Broker: b, names: names, ticket: t, Request: req, heardAt: b.clock.Elapsed()}
	for {
		grants, err := w.look(ctx)
		if len(grants) == len(names) {
			return grants, nil
		}
		if err != nil && (!req.Wait || ctx.Err() != nil || !Passing(err)) {
			return nil, err
		}
		if err := pause(ctx, b.opts.Poll); err != nil {
			return nil, fmt.Errorf("waiting for %v: %w", names, err)
		}
	}
}

// waiter is somebody in queues.
type waiter struct {
	*Broker
	Request
	names   []string
	ticket  lease.Ticket
	told    []Place
	heardAt time.Duration
}

// look sees how the ticket stands, claims what can be, and says that the waiter is there.
func (w *waiter) look(ctx context.Context) ([]Grant, error) {
	places, err := w.places(ctx, w.names, w.ticket.ID)
	if err != nil {
		return nil, err
	}
	if w.Progress != nil && !slices.Equal(places, w.told) {
		w.Progress(places)
		w.told = places
	}
	if i := slices.IndexFunc(places, func(p Place) bool { return p.Position != 0 }); i < 0 {
		grants, err := w.claim(ctx, w.names, w.ticket.ID)
		if err != nil || len(grants) == len(w.names) {
			return grants, err
		}
	} else if !w.Wait {
		p := places[i]
		return nil, &BusyError{Reservation: p.Reservation, State: p.State, Holder: p.Holder, Waiting: p.Position - 1}
	}
	if now := w.clock.Elapsed(); now-w.heardAt > w.ticket.Wait()/3 {
		if err := w.heard(ctx, w.names, w.ticket); err != nil {
			return nil, err
		}
		w.heardAt = now
	}
	return nil, w.Tick(ctx, w.names...)
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
var ErrLost = errors.New("the place in the queue was lost")

// places looks where a ticket stands.
func (b *Broker) places(ctx context.Context, names []string, id string) ([]Place, error) {
	var out []Place
	for _, name := range names {
		place, ok, err := b.place(ctx, name, id, false)
		if err == nil && !ok { // or it is not known here yet
			place, ok, err = b.place(ctx, name, id, true)
		}
		if err != nil {
			return nil, err
		}
		if !ok {
			return nil, fmt.Errorf("%w: nothing was heard of the ticket %s for %s in time", ErrLost, id, name)
		}
		out = append(out, place)
	}
	return out, nil
}

func (b *Broker) place(ctx context.Context, name, id string, fresh bool) (Place, bool, error) {
	read := b.store.Get
	if fresh {
		read = b.store.Fresh
	}
	r, err := read(ctx, name)
	if err != nil {
		return Place{}, false, err //nolint:wrapcheck // says what it was doing
	}
	p := Place{Reservation: name, State: r.Status.Now()}
	if l := r.Status.Lease; l != nil {
		p.Holder = l.Holder
		if l.ID == id {
			return p, true, nil
		}
	}
	i, waits := r.Status.Position(id)
	p.Position = i + 1
	return p, waits, nil
}

// claim takes all that is offered; fewer than all, and nothing is kept.
func (b *Broker) claim(ctx context.Context, names []string, id string) ([]Grant, error) {
	var out []Grant
	for _, name := range names {
		var got lease.Lease
		err := b.change(ctx, name, func(r *lease.Record, now time.Time) (err error) {
			got, err = r.Claim(id, now)
			return err //nolint:wrapcheck // decided on below
		})
		if errors.Is(err, lease.ErrNotOffered) {
			return nil, b.giveBack(ctx, out)
		}
		if err != nil {
			return nil, errors.Join(fmt.Errorf("claim %s: %w", name, err), b.giveBack(ctx, out))
		}
		out = append(out, Grant{Reservation: name, Lease: got})
	}
	return out, nil
}

func (b *Broker) giveBack(ctx context.Context, grants []Grant) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), leaving)
	defer cancel()
	var errs []error
	for _, g := range grants {
		if err := b.change(ctx, g.Reservation, func(r *lease.Record, now time.Time) error { return r.Return(g.Token, now) }); err != nil {
			errs = append(errs, fmt.Errorf("give %s back: %w", g.Reservation, err))
		}
	}
	return errors.Join(errs...)
}

func (b *Broker) heard(ctx context.Context, names []string, t lease.Ticket) error {
	for _, name := range names {
		err := b.change(ctx, name, func(r *lease.Record, _ time.Time) error { return r.Heard(t.ID) })
		if errors.Is(err, lease.ErrNoTicket) {
			return fmt.Errorf("%w: of %s", ErrLost, name)
		}
		if err != nil {
			return fmt.Errorf("wait for %s: %w", name, err)
		}
	}
	return nil
}
