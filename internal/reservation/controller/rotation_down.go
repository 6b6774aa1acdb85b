package controller

import (
	"context"
	"fmt"
	"time"

	"github.com/firstlight/firstlight/internal/reservation/config"
	"github.com/firstlight/firstlight/internal/reservation/lease"
)

// Down removes the day deployment on behalf of by. A holder who checked it out is notified and
// keeps it until drained, or until the end of their extension. byHand also cleans reservations
// that need an operator.
func (r *Rotation) Down(ctx context.Context, row config.Reservation, by string, drained time.Time, byHand bool) (Outcome, error) {
	out := Outcome{Reservation: row.Name}
	now, err := r.opts.Store.GetUncached(ctx, row.Name)
	if err != nil {
		return out, fmt.Errorf("take %s down: %w", row.Name, err)
	}
	switch l := now.Status.Lease; {
	case now.Status.CurrentState() == lease.Free:
		return r.downFree(ctx, row, by, byHand)
	case now.Status.CurrentState() == lease.Dirty:
		return r.Clean(ctx, row, by, byHand)
	case now.Status.CurrentState() == lease.Cleaning:
		out.Result, out.Reason = ResultBlocked, l.Holder+" is cleaning it"
		return out, nil
	case l.Offered() || l.Publisher != r.Holder():
		out.Result, out.Reason = ResultBlocked, fmt.Sprintf("%s holds it for %s", l.Holder, purposeText(l.Purpose))
		return out, nil
	default:
		return r.drain(ctx, row, &now.Status.Record, by, drained, byHand)
	}
}

func purposeText(purpose string) string {
	if purpose == "" {
		return "an unstated purpose"
	}
	return purpose
}

// drain ends the day's lease after the notice to its holder.
func (r *Rotation) drain(ctx context.Context, row config.Reservation, rec *lease.Record, by string, drained time.Time, byHand bool) (Outcome, error) {
	l, until := rec.Lease, drained
	if err := r.opts.Broker.CheckClock(); err != nil && !l.Available { // the notice would end at another time than its holder reads
		return Outcome{Reservation: row.Name}, fmt.Errorf("take %s down: %w", row.Name, err)
	}
	if l.TermEndsAt != nil && l.TermEndsAt.After(until) && rec.IsExtended() {
		until = l.TermEndsAt.Time
	}
	if !l.Available && r.opts.Now().Before(until) {
		out := Outcome{Reservation: row.Name, Result: ResultNotified, Token: l.Token, Reason: fmt.Sprintf("%s holds it until %s", l.Holder, until.UTC().Format(time.RFC3339))}
		if l.Notice != nil && l.Notice.At.Time.Equal(until.Truncate(time.Microsecond)) {
			return out, nil
		}
		return out, r.opts.Broker.Notify(ctx, row.Name, l.Token, by, "the day deployment ends", until)
	}
	reason := "end of the day"
	if !l.Available {
		reason = fmt.Sprintf("%s had notice until %s", l.Holder, until.UTC().Format(time.RFC3339))
	}
	if err := r.opts.Broker.Evict(ctx, row.Name, l.Token, by, reason); err != nil {
		return Outcome{Reservation: row.Name}, fmt.Errorf("take %s down: %w", row.Name, err)
	}
	out, err := r.Clean(ctx, row, by, byHand)
	if out.Result == ResultCleaned {
		out.Result = ResultDown
	}
	return out, err
}

// downFree handles a free reservation. A deployment without a lease is removed only by hand.
func (r *Rotation) downFree(ctx context.Context, row config.Reservation, by string, byHand bool) (Outcome, error) {
	out := Outcome{Reservation: row.Name, Result: ResultUnchanged, Reason: "there is no deployment"}
	found, err := r.discover(ctx, row)
	if err != nil {
		return out, fmt.Errorf("list deployments: %w", err)
	}
	if len(found) == 0 {
		return out, nil
	}
	if err := r.opts.Broker.QuarantineFree(ctx, row.Name, by, DescribeLeftover(found)); err != nil {
		return out, err
	}
	return r.Clean(ctx, row, by, byHand)
}
