package controller

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/firstlight/firstlight/internal/reservation/broker"
	"github.com/firstlight/firstlight/internal/reservation/clock"
	"github.com/firstlight/firstlight/internal/reservation/lease"
	"github.com/firstlight/firstlight/internal/reservation/matrix"
)

var (
	// errCellMustWait: no cell may start now; check again whether one may start later.
	errCellMustWait = errors.New("no cell may start now")
	errSuperseded   = fmt.Errorf("a newer batch has started: %w", errCellMustWait)
)

// openWindow returns a context that ends at the cutoff and when a newer batch starts.
func (r *legRun) openWindow(ctx context.Context) (context.Context, context.CancelCauseFunc) {
	ctx, end := clock.WithDeadline(ctx, r.opts.Clock, r.Cutoff)
	ctx, stop := context.WithCancelCause(ctx)
	go func() {
		ticker := time.NewTicker(r.opts.PollInterval)
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

// queueTurn is a place in the queue.
type queueTurn struct {
	end context.CancelCauseFunc
	// open's cause says why the wait ended.
	open context.Context //nolint:containedctx // the wait's, which is asked why it has ended
	// queued is closed when the ticket is in the queue or has its lease.
	queued chan struct{}
	// places has the newest unread place.
	places chan broker.Place
	got    chan acquireResult
}

type acquireResult struct {
	grants []broker.Grant
	err    error
}

// queue starts to wait for the reservation on behalf of a cell.
func (r *legRun) queue(ctx context.Context, c *matrix.Cell) *queueTurn {
	t := &queueTurn{queued: make(chan struct{}), places: make(chan broker.Place, 1), got: make(chan acquireResult, 1)}
	t.open, t.end = r.openWindow(ctx)
	queued := sync.OnceFunc(func() { close(t.queued) })
	priority, _ := lease.PriorityOf(lease.Nightly) // a known class
	req := broker.Request{
		Reservations: []string{r.Row.Name}, Wait: true,
		Ticket: lease.Ticket{
			Holder: r.Holder(), Purpose: c.Name(), Class: lease.Nightly, Priority: priority, RenewInterval: lease.Duration(r.opts.RenewInterval),
		},
		Progress: func(places []broker.Place) {
			select {
			case <-t.places:
			default:
			}
			t.places <- places[0]
			queued()
		},
	}
	go func() {
		defer queued()
		grants, err := r.opts.Broker.Acquire(t.open, req)
		t.got <- acquireResult{grants, err}
	}()
	return t
}

// queueNext queues for the next cell while the reservation is still held, so that no lower class
// gets it in between.
func (r *legRun) queueNext(ctx context.Context) {
	i := slices.IndexFunc(r.cells, func(c matrix.Cell) bool { return !c.Outcome.Ended() })
	if i < 0 || r.turn != nil || r.isClosed(ctx) {
		return
	}
	r.turn = r.queue(ctx, &r.cells[i])
	timer := time.NewTimer(r.opts.RenewInterval / 3) // the lease is not renewed meanwhile
	defer timer.Stop()
	select {
	case <-r.turn.queued:
	case <-timer.C:
	}
}

// leaveQueue cancels a ticket that is no longer needed.
func (r *legRun) leaveQueue(ctx context.Context) error {
	if r.turn == nil {
		return nil
	}
	t := r.turn
	r.turn = nil
	t.end(nil)
	if g := <-t.got; g.err == nil {
		return r.release(ctx, g.grants[0].Token, "no longer needed")
	}
	return nil
}

// acquire waits until the cell has the reservation, and records why it waits.
func (r *legRun) acquire(ctx context.Context, c *matrix.Cell) (broker.Grant, error) {
	if r.turn == nil {
		r.turn = r.queue(ctx, c)
	}
	var goOn func()
	defer func() {
		if goOn != nil {
			goOn()
		}
	}()
	for {
		select {
		case p := <-r.turn.places:
			if p.Position == 0 {
				continue
			}
			if err := r.recordWait(ctx, c, p); err != nil {
				return broker.Grant{}, err // the caller leaves the queue
			}
			if goOn == nil {
				goOn = r.Waiting(r.Cutoff)
			}
		case g := <-r.turn.got:
			t := r.turn
			r.turn = nil
			defer t.end(nil)
			return r.granted(ctx, c, t.open, g)
		}
	}
}

func (r *legRun) granted(ctx context.Context, c *matrix.Cell, open context.Context, g acquireResult) (broker.Grant, error) { //nolint:revive // open is what is asked, not what is worked under
	switch {
	case g.err == nil:
		r.waitReason = ""
		return g.grants[0], nil
	case ctx.Err() != nil && !isWindowOver(ctx):
		return broker.Grant{}, context.Cause(ctx)
	case isWindowOver(open) || errors.Is(context.Cause(open), errCellMustWait):
		return broker.Grant{}, errCellMustWait
	case errors.Is(g.err, broker.ErrTicketLost):
		r.log.WarnContext(ctx, "queueing again", "cell", c.Name(), "why", g.err)
		return broker.Grant{}, errCellMustWait
	default:
		return broker.Grant{}, g.err
	}
}

// recordWait records why a cell waits; the reason of a lost attempt takes precedence.
func (r *legRun) recordWait(ctx context.Context, c *matrix.Cell, p broker.Place) error {
	reason := r.reason(ctx, c, p)
	if reason == "" || reason == r.waitReason {
		return nil
	}
	r.waitReason = reason
	r.log.WarnContext(ctx, "cell is waiting", "cell", c.Name(), "why", reason)
	if c.Attempts > 0 || c.Reason == reason {
		return nil
	}
	c.Reason = reason
	return r.record(ctx)
}

// reason says why a reservation is not free; empty if it soon is, or if it cannot be read.
func (r *legRun) reason(ctx context.Context, c *matrix.Cell, p broker.Place) string {
	now, err := r.opts.Store.GetUncached(ctx, r.Row.Name)
	if err != nil {
		return ""
	}
	switch l, d := now.Status.Lease, now.Status.DirtyInfo; {
	case d != nil && d.ManualOnly:
		return lease.NeedsOperator(d.Reason, r.Row.Name)
	case d != nil && d.Failure != "":
		return fmt.Sprintf("it is dirty, and %d attempts to clean it failed: %s", d.Attempts, d.Failure)
	case d != nil && p.State == lease.Dirty:
		return fmt.Sprintf("it is dirty since %s: %s", d.Since.UTC().Format(time.RFC3339), d.Reason)
	case l != nil && now.Status.CurrentState() == lease.Leased && !l.Offered() && (l.Holder != r.Holder() || l.Purpose != c.Name()):
		return fmt.Sprintf("%s holds it%s", l.Holder, forPurpose(l.Purpose))
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
