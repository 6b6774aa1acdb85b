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

// Request asks for one reservation, or for several of which all are given or none.
type Request struct {
	Reservations []string
	// Ticket says who asks and on what terms; ID, User, Since and Group are set here.
	Ticket lease.Ticket
	// Wait in the queue; else it is refused with a BusyError when it is not free at once.
	Wait bool
	// Progress, if set, is told the places in the queues whenever one changes.
	Progress func([]Place)
}

// Place is where a ticket stands in a queue.
type Place struct {
	Reservation string `json:"reservation"`
	// Position is 0 for what is offered, else 1 for the next, and so on.
	Position int `json:"position"`
	// State and Holder are of whoever has it now.
	State  lease.State `json:"state"`
	Holder string      `json:"holder,omitempty"`
}

// Grant is a lease that was claimed.
type Grant struct {
	Reservation string `json:"reservation"`
	lease.Lease
}

// BusyError says that a reservation is not free.
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

// Acquire gets what is asked for. When ctx ends while it waits, its tickets are taken back.
func (b *Broker) Acquire(ctx context.Context, req Request) ([]Grant, error) {
	names := slices.Sorted(slices.Values(req.Reservations))
	names = slices.Compact(names)
	if len(names) == 0 {
		return nil, errors.New("acquire: no reservation is named")
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
	} else if err != nil { // it may have been written for all that
		return nil, errors.Join(err, b.cancelTickets(ctx, names, t.ID, err.Error()))
	}
	grants, err := b.wait(ctx, names, t, req)
	if err == nil {
		return grants, nil
	}
	return nil, errors.Join(err, b.cancelTickets(ctx, names, t.ID, err.Error()))
}

// atOnce queues for one reservation and claims it if it is offered, in one change.
// Who does not wait leaves no trace where it is not.
func (b *Broker) tryNow(ctx context.Context, name string, t lease.Ticket, wait bool) (grants []Grant, done bool, err error) {
	var got lease.Lease
	err = b.change(ctx, name, func(r *lease.Record, now time.Time) error {
		busy := busyError(name, r)
		was := *r.Clone()
		r.Enqueue(t, now)
		l, err := r.Claim(t.ID, now)
		if err != nil && !wait {
			*r = was
			return busy
		}
		if err == nil && l.User == "" { // it was not asked for: what is refused takes one read
			if l.User, err = b.store.Caller(ctx); err != nil {
				*r = was
				return err //nolint:wrapcheck // below
			}
			r.Lease.User = l.User
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
	return []Grant{{Reservation: name, Lease: got}}, true, nil
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

// leaving bounds how long tickets are taken back when nobody waits any more.
const cleanupTimeout = 10 * time.Second

// leave takes tickets back, and what was offered to them; what is claimed is released unused.
func (b *Broker) cancelTickets(ctx context.Context, names []string, id, reason string) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanupTimeout)
	defer cancel()
	var errs []error
	for _, name := range names {
		err := b.change(ctx, name, func(r *lease.Record, now time.Time) error {
			if l := r.Lease; l != nil && l.ID == id && !l.Offered() {
				return r.Release(l.Token, true, reason, now)
			}
			if err := r.Cancel(id, reason, now); !errors.Is(err, lease.ErrTicketNotFound) {
				return err //nolint:wrapcheck // below
			}
			return nil
		})
		if err != nil {
			errs = append(errs, fmt.Errorf("take the ticket for %s back: %w", name, err))
		}
	}
	return errors.Join(errs...)
}

// Names joins the names of reservations for people.
func JoinNames(grants []Grant) string {
	var out []string
	for _, g := range grants {
		out = append(out, g.Reservation)
	}
	return strings.Join(out, ", ")
}
