package controller

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firstlight/firstlight/internal/poll"
	"github.com/firstlight/firstlight/internal/reservation/broker"
	"github.com/firstlight/firstlight/internal/reservation/clock"
	"github.com/firstlight/firstlight/internal/reservation/lease"
	"github.com/firstlight/firstlight/internal/reservation/matrix"
)

// isWindowOver reports whether a context ended at its deadline on the clock.
func isWindowOver(ctx context.Context) bool { return errors.Is(context.Cause(ctx), clock.ErrDeadline) }

// record stores the cells, also after the end of the window.
func (r *legRun) record(ctx context.Context) error {
	if isWindowOver(ctx) {
		detached, cancel := context.WithTimeout(context.WithoutCancel(ctx), r.opts.RenewInterval)
		defer cancel()
		ctx = detached
	}
	if err := r.Record(ctx, cloneCells(r.cells)); err != nil {
		return &recordError{err}
	}
	r.recorded = cloneCells(r.cells)
	return nil
}

// recordError ends a leg: a step that cannot be recorded is not done.
type recordError struct{ err error }

func (e *recordError) Error() string { return fmt.Sprintf("record the cells: %v", e.err) }
func (e *recordError) Unwrap() error { return e.err }

func (r *legRun) stamp() *metav1.Time {
	now := metav1.NewTime(r.opts.Clock.Now().Truncate(time.Second))
	return &now
}

var errLeaseNotEnded = errors.New("it has not ended yet")

// resume resets cells of a runner that stopped, and waits until their lease has ended: the runner
// may still be at work, or its hooks are, and learns only at its next renewal that it leads no more.
func (r *legRun) resume(ctx context.Context) error {
	changed := false
	for i := range r.cells {
		switch c := &r.cells[i]; c.Outcome {
		case matrix.Running:
			c.Outcome, c.Reason, changed = matrix.Pending, "its runner stopped before it ended", true
		case "":
			c.Outcome = matrix.Pending
		default:
		}
	}
	if changed {
		if err := r.record(ctx); err != nil {
			return err
		}
	}
	left := false
	err := poll.Until(ctx, r.opts.PollInterval, "the end of the lease of a started cell", func(ctx context.Context) error {
		now, err := r.opts.Store.GetUncached(ctx, r.Row.Name)
		if err != nil && !broker.IsTransient(err) {
			return poll.Stop(err)
		}
		if err != nil {
			return err
		}
		if d := now.Status.DirtyInfo; d != nil {
			left = r.started(d.Token)
		}
		if l := now.Status.Lease; l == nil || l.Offered() || now.Status.CurrentState() != lease.Leased || !r.started(l.Token) {
			return nil
		}
		if r.isClosed(ctx) {
			return nil // no cell starts any more; the sweep cleans
		}
		r.queueNext(ctx)
		return errLeaseNotEnded
	})
	switch {
	case isWindowOver(ctx):
		return nil // a held lease expires
	case err != nil:
		return fmt.Errorf("read the started cells of %s: %w", r.Row.Name, err)
	case left:
		return r.clean(ctx)
	default:
		return nil
	}
}

// started reports whether a cell was started with a token.
func (r *legRun) started(token int64) bool {
	return token > 0 && slices.ContainsFunc(r.cells, func(c matrix.Cell) bool { return c.Token == token })
}

// cell runs one cell to its end.
func (r *legRun) cell(ctx context.Context, c *matrix.Cell) error {
	for !c.Outcome.Ended() {
		if closed, err := r.closed(ctx); closed || err != nil {
			return err
		}
		g, err := r.acquire(ctx, c)
		switch {
		case err == nil:
			err = r.attempt(ctx, c, g)
		case errors.Is(err, errCellMustWait):
			continue
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// closed reports whether no cell may start any more, and then concludes the remaining cells.
func (r *legRun) closed(ctx context.Context) (bool, error) {
	switch {
	case !r.isClosed(ctx):
		return false, nil
	case r.Newer():
		return true, r.conclude(ctx, matrix.Superseded, "a newer batch has started")
	default:
		return true, r.conclude(ctx, matrix.NotStarted, "no cell starts after "+r.Cutoff.UTC().Format(time.RFC3339))
	}
}

func (r *legRun) isClosed(ctx context.Context) bool {
	return r.Newer() || !r.opts.Clock.Now().Before(r.Cutoff) || isWindowOver(ctx)
}

// conclude ends the remaining cells: interrupted if started, blocked if the reservation was not
// available, and blocked after such a cell.
func (r *legRun) conclude(ctx context.Context, left matrix.Outcome, reason string) error {
	blocked := r.waitReason
	for i := range r.cells {
		c := &r.cells[i]
		if c.Outcome.Ended() {
			continue
		}
		switch {
		case c.Attempts > 0:
			c.Outcome, c.Reason = matrix.Interrupted, cmp.Or(c.Reason, "its attempt was lost")+"; "+reason
		case left == matrix.Superseded:
			c.Outcome, c.Reason = left, reason
		case c.Reason != "" || blocked != "":
			blocked = cmp.Or(c.Reason, blocked)
			c.Outcome, c.Reason = matrix.Blocked, blocked
		default:
			c.Outcome, c.Reason = left, reason
		}
		c.Ended = r.stamp()
		r.log.WarnContext(ctx, "cell did not run", "cell", c.Name(), "outcome", c.Outcome, "why", c.Reason)
	}
	return r.record(ctx)
}
