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
	// errNotNow says that no cell may begin: it is looked at anew whether one may later.
	errCellMustWait     = errors.New("no cell may begin now")
	errSuperseded = fmt.Errorf("a newer batch has begun: %w", errCellMustWait)
)

// open is a context in which a cell may begin: it ends at the cutoff, and when a newer
// batch begins.
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

// turn is a place in the queue.
type queueTurn struct {
	end context.CancelCauseFunc
	// over is why nobody waits any more, when that is so.
	open context.Context //nolint:containedctx // the wait's, which is asked why it has ended
	// queued is closed when it stands in the queue, or has got what it waits for.
	queued chan struct{}
	// places has the newest, if it was not looked at yet.
	places chan broker.Place
	got    chan acquireResult
}

type acquireResult struct {
	grants []broker.Grant
	err    error
}

// queue begins to wait for the reservation in a cell's name.
func (r *legRun) queue(ctx context.Context, c *matrix.Cell) *queueTurn {
	t := &queueTurn{queued: make(chan struct{}), places: make(chan broker.Place, 1), got: make(chan acquireResult, 1)}
	t.open, t.end = r.openWindow(ctx)
	queued := sync.OnceFunc(func() { close(t.queued) })
	priority, _ := lease.PriorityOf(lease.Nightly) // it is one of the classes
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

// queueNext gets into the queue for the next cell while the reservation is still held, so
// that nobody of a lower class comes in between.
func (r *legRun) queueNext(ctx context.Context) {
	i := slices.IndexFunc(r.cells, func(c matrix.Cell) bool { return !c.Outcome.Ended() })
	if i < 0 || r.turn != nil || r.isClosed(ctx) {
		return
	}
	r.turn = r.queue(ctx, &r.cells[i])
	timer := time.NewTimer(r.opts.RenewInterval / 3) // nobody renews the lease now
	defer timer.Stop()
	select {
	case <-r.turn.queued:
	case <-timer.C:
	}
}

// leave gives up a place in the queue that nobody needs.
func (r *legRun) leaveQueue(ctx context.Context) error {
	if r.turn == nil {
		return nil
	}
	t := r.turn
	r.turn = nil
	t.end(nil)
	if g := <-t.got; g.err == nil {
		return r.release(ctx, g.grants[0].Token, "it is not needed any more")
	}
	return nil
}

// acquire waits in the queue until the reservation is the cell's. What it waits for is
// written down whenever that changes.
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
				return broker.Grant{}, err // who runs the leg leaves the queue
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

// granted is what came of the wait.
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
		r.log.WarnContext(ctx, "it queues again", "cell", c.Name(), "why", g.err)
		return broker.Grant{}, errCellMustWait
	default:
		return broker.Grant{}, g.err
	}
}

// waits says what a cell waits for. Of one whose attempt was lost that is what counts.
func (r *legRun) recordWait(ctx context.Context, c *matrix.Cell, p broker.Place) error {
	reason := r.reason(ctx, c, p)
	if reason == "" || reason == r.waitReason {
		return nil
	}
	r.waitReason = reason
	r.log.WarnContext(ctx, "cell waits", "cell", c.Name(), "why", reason)
	if c.Attempts > 0 || c.Reason == reason {
		return nil
	}
	c.Reason = reason
	return r.record(ctx)
}

// reason is why a reservation is not free; empty: it is about to be, or it can't be asked.
func (r *legRun) reason(ctx context.Context, c *matrix.Cell, p broker.Place) string {
	now, err := r.opts.Store.GetUncached(ctx, r.Row.Name)
	if err != nil {
		return ""
	}
	switch l, d := now.Status.Lease, now.Status.DirtyInfo; {
	case d != nil && d.ManualOnly:
		return fmt.Sprintf("%s; it waits for: firstlight reservation rotation down --reservation %s", d.Reason, r.Row.Name)
	case d != nil && d.Failure != "":
		return fmt.Sprintf("it is dirty, and could not be cleaned in %d attempts: %s", d.Attempts, truncateReason(d.Failure))
	case d != nil && p.State == lease.Dirty:
		return fmt.Sprintf("it is dirty since %s: %s", d.Since.UTC().Format(time.RFC3339), truncateReason(d.Reason))
	case l != nil && now.Status.CurrentState() == lease.Leased && !l.Offered() && (l.Holder != r.Holder() || l.Purpose != c.Name()):
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
const maxReason = 2048

// clip bounds a text that hooks have a part in.
func truncateReason(text string) string {
	if len(text) <= maxReason {
		return text
	}
	return text[:maxReason] + " [...]"
}
