package batch

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/firstlight/firstlight/internal/reservation/broker"
	"github.com/firstlight/firstlight/internal/reservation/clock"
	"github.com/firstlight/firstlight/internal/reservation/lease"
	"github.com/firstlight/firstlight/internal/reservation/matrix"
)

var (
	// errNotNow says that no cell may begin: it is looked at anew whether one may later.
	errNotNow     = errors.New("no cell may begin now")
	errSuperseded = fmt.Errorf("a newer batch has begun: %w", errNotNow)
)

// open is a context in which a cell may begin: it ends at the cutoff, and when a newer
// batch begins.
func (r *run) open(ctx context.Context) (context.Context, context.CancelCauseFunc) {
	ctx, end := clock.WithEnd(ctx, r.opts.Clock, r.Cutoff)
	ctx, stop := context.WithCancelCause(ctx)
	go func() {
		ticker := time.NewTicker(r.opts.Poll)
		defer ticker.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
				if r.Newer() {
					stop(errSuperseded)
				}
			}
		}
	}()
	return ctx, func(cause error) { stop(cause); end() }
}

// acquire stands in the queue until the reservation is the cell's. What it waits for is
// written down whenever that changes.
func (r *run) acquire(ctx context.Context, c *matrix.Cell) (broker.Grant, error) {
	open, end := r.open(ctx)
	defer end(nil)
	var done func()
	defer func() {
		if done != nil {
			done()
		}
	}()
	var failed error
	priority, _ := lease.PriorityOf(lease.Nightly) // it is one of the classes
	grants, err := r.opts.Broker.Acquire(open, broker.Request{
		Reservations: []string{r.Row.Name}, Wait: true,
		Ticket: lease.Ticket{
			Holder: r.Holder(), Purpose: c.Name(), Class: lease.Nightly, Priority: priority, Period: lease.Spans(r.opts.Period),
		},
		Progress: func(places []broker.Place) {
			if places[0].Position == 0 {
				return
			}
			if done == nil {
				done = r.Waiting(r.Cutoff)
			}
			if failed = r.waits(open, c, places[0]); failed != nil {
				end(failed)
			}
		},
	})
	switch {
	case err == nil:
		r.busy = ""
		return grants[0], nil
	case failed != nil:
		return broker.Grant{}, failed
	case ctx.Err() != nil && !over(ctx):
		return broker.Grant{}, context.Cause(ctx)
	case over(open) || errors.Is(context.Cause(open), errNotNow):
		return broker.Grant{}, errNotNow
	case errors.Is(err, broker.ErrLost):
		r.log.WarnContext(ctx, "it queues again", "cell", c.Name(), "why", err)
		return broker.Grant{}, errNotNow
	default:
		return broker.Grant{}, err //nolint:wrapcheck // says what it was doing
	}
}

// waits says what a cell waits for. Of one whose attempt was lost that is what counts.
func (r *run) waits(ctx context.Context, c *matrix.Cell, p broker.Place) error {
	why := r.reason(ctx, p)
	if why == "" || why == r.busy {
		return nil
	}
	r.busy = why
	r.log.WarnContext(ctx, "cell waits", "cell", c.Name(), "why", why)
	if c.Attempts > 0 || c.Why == why {
		return nil
	}
	c.Why = why
	return r.record(ctx)
}

// reason is why a reservation is not free; empty: it is about to be, or it can't be asked.
func (r *run) reason(ctx context.Context, p broker.Place) string {
	now, err := r.opts.Store.Fresh(ctx, r.Row.Name)
	if err != nil {
		return ""
	}
	switch l, d := now.Status.Lease, now.Status.Dirt; {
	case d != nil && d.ByHand:
		return fmt.Sprintf("%s; it waits for: firstlight reservation rotation down --reservation %s", d.Why, r.Row.Name)
	case d != nil && d.Failure != "":
		return fmt.Sprintf("it is dirty, and could not be cleaned in %d attempts: %s", d.Attempts, clip(d.Failure))
	case d != nil && p.State == lease.Dirty:
		return fmt.Sprintf("it is dirty since %s: %s", d.Since.UTC().Format(time.RFC3339), clip(d.Why))
	case l != nil && now.Status.Now() == lease.Leased && !l.Offered():
		return fmt.Sprintf("%s has it%s", l.Holder, forPurpose(l.Purpose))
	default:
		return ""
	}
}

func forPurpose(purpose string) string {
	if purpose == "" {
		return ""
	}
	return " for " + purpose
}

// most is how much of a reason is kept, in bytes.
const most = 2048

// clip bounds a text that hooks have a part in.
func clip(text string) string {
	if len(text) <= most {
		return text
	}
	return text[:most] + " [...]"
}
