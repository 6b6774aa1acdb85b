package broker

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firstlight/firstlight/internal/reservation/lease"
)

// Request asks for one reservation, or for several that are granted together or not at all.
type Request struct {
	Reservations []string
	// Ticket describes the requester and the terms; ID, User, QueuedAt and Group are set by
	// Acquire.
	Ticket lease.Ticket
	// Wait in the queue; otherwise a reservation that is not free is a BusyError.
	Wait bool
	// Progress, if set, is called with the places in the queues whenever one changes.
	Progress func([]Place)
}

// Place is the position of a ticket in a queue.
type Place struct {
	Reservation string `json:"reservation"`
	// Position is 0 for an offer, 1 for the head of the queue, and so on.
	Position int `json:"position"`
	// State and Holder describe the current lease.
	State  lease.State `json:"state"`
	Holder string      `json:"holder,omitempty"`
}

// Grant is a claimed lease.
type Grant struct {
	Reservation string `json:"reservation"`
	lease.Lease
	// begun is the begin of the first attempt to claim it, in holderTime: the attempt may
	// have succeeded although its answer was lost. nil: unknown.
	begun *time.Duration
}

// claims has the begin of the first attempt to claim each token, in one operation.
type claims map[int64]time.Duration

func (c claims) note(token int64, now time.Duration) {
	if _, again := c[token]; !again {
		c[token] = now
	}
}

func (c claims) grant(name string, l lease.Lease) Grant {
	g := Grant{Reservation: name, Lease: l}
	if at, ok := c[l.Token]; ok {
		g.begun = &at
	}
	return g
}

// BusyError means that the reservation is not free.
type BusyError struct {
	Reservation string
	State       lease.State
	Holder      string
	ExpiresAt   time.Time
	Waiting     int
}

func (e *BusyError) Error() string {
	text := fmt.Sprintf("reservation %s is %s", e.Reservation, e.State)
	if e.Holder != "" {
		text += " by " + e.Holder
	}
	if !e.ExpiresAt.IsZero() {
		text += " until " + e.ExpiresAt.UTC().Format(time.RFC3339)
	}
	return fmt.Sprintf("%s; %d waiting", text, e.Waiting)
}

// Acquire gets the requested leases. If ctx ends while it waits, it cancels its tickets.
func (b *Broker) Acquire(ctx context.Context, req Request) ([]Grant, error) {
	names := slices.Sorted(slices.Values(req.Reservations))
	names = slices.Compact(names)
	if len(names) == 0 {
		return nil, errors.New("acquire: no reservation named")
	}
	t := req.Ticket
	if req.Wait || len(names) > 1 {
		var err error
		if t.User, err = b.store.Caller(ctx); err != nil {
			return nil, fmt.Errorf("acquire: %w", err)
		}
	}
	t.ID = b.opts.ID()
	t.QueuedAt = metav1.NewMicroTime(b.clock.Now().Truncate(time.Microsecond))
	if len(names) > 1 {
		t.Group = names
	} else if g, done, err := b.tryNow(ctx, names[0], t, req.Wait); done {
		return g, nil
	} else if isBusy := (*BusyError)(nil); errors.As(err, &isBusy) {
		return nil, err
	} else if err != nil { // the write may have succeeded
		return nil, errors.Join(err, b.cancelTickets(ctx, names, t.ID, err.Error()))
	}
	grants, err := b.wait(ctx, names, t, req)
	if err == nil {
		return grants, nil
	}
	return nil, errors.Join(err, b.cancelTickets(ctx, names, t.ID, err.Error()))
}

// tryNow queues for one reservation and claims an immediate offer, in one change. Without wait, a
// busy reservation stays unchanged.
func (b *Broker) tryNow(ctx context.Context, name string, t lease.Ticket, wait bool) (grants []Grant, done bool, err error) {
	var got lease.Lease
	begun := claims{}
	err = b.change(ctx, name, func(r *lease.Record, now time.Time) error {
		if err := b.checkClock(); err != nil {
			return err
		}
		busy := busyError(name, r)
		was := *r.DeepCopy()
		r.Enqueue(t, now)
		l, err := r.Claim(t.ID, now)
		if err != nil && !wait {
			*r = was
			return busy
		}
		if err == nil && l.User == "" { // asked late: a refused request costs one read
			if l.User, err = b.store.Caller(ctx); err != nil {
				*r = was
				return err
			}
			r.Lease.User = l.User
		}
		if err == nil {
			begun.note(l.Token, b.holderTime())
		}
		got = l
		return nil
	})
	if err != nil {
		return nil, false, fmt.Errorf("acquire: %w", err)
	}
	if got.ClaimedAt == nil {
		return nil, false, nil
	}
	return []Grant{begun.grant(name, got)}, true, nil
}

func busyError(name string, r *lease.Record) *BusyError {
	e := &BusyError{Reservation: name, State: r.CurrentState(), Waiting: len(r.Queue)}
	if r.Lease != nil {
		e.Holder = r.Lease.Holder
		if r.Lease.ExpiresAt != nil {
			e.ExpiresAt = r.Lease.ExpiresAt.Time
		}
	}
	return e
}

// cancelTickets removes tickets and offers; a claimed lease is released as clean.
func (b *Broker) cancelTickets(ctx context.Context, names []string, id, reason string) error {
	return atEnd(ctx, cancelTimeout, names, func(ctx context.Context, name string) error {
		return b.do(ctx, "cancel the ticket for", name, func(r *lease.Record, now time.Time) error {
			if l := r.Lease; l != nil && l.ID == id && !l.Offered() {
				return r.Release(l.Token, true, reason, now)
			}
			if err := r.Cancel(id, reason, now); !errors.Is(err, lease.ErrTicketNotFound) {
				return err
			}
			return nil
		})
	})
}

// JoinNames joins the names of the reservations for messages.
func JoinNames(grants []Grant) string {
	var out []string
	for _, g := range grants {
		out = append(out, g.Reservation)
	}
	return strings.Join(out, ", ")
}
