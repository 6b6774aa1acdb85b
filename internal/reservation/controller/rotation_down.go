package controller

import (
	"context"
	"fmt"
	"time"

	"github.com/firstlight/firstlight/internal/reservation/lease"
	"github.com/firstlight/firstlight/internal/reservation/config"
)

// Down takes down what stands for people, in somebody's name. A holder who has taken it
// is given notice until drained, and keeps it until then; who has extended it keeps it
// until its end. What nobody has stood up is not taken down. ByHand cleans what nobody else may.
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
		out.Result, out.Reason = ResultBlocked, fmt.Sprintf("%s has it for %s", l.Holder, purposeText(l.Purpose))
		return out, nil
	default:
		return r.drain(ctx, row, l, by, drained, byHand)
	}
}

func purposeText(purpose string) string {
	if purpose == "" {
		return "a purpose that is not stated"
	}
	return purpose
}

// drain ends the day's lease, when its holder has had the notice that is due.
func (r *Rotation) drain(ctx context.Context, row config.Reservation, l *lease.Lease, by string, drained time.Time, byHand bool) (Outcome, error) {
	until := drained
	if l.TermEndsAt != nil && l.TermEndsAt.After(until) {
		until = l.TermEndsAt.Time // it was extended
	}
	if !l.Available && r.opts.Now().Before(until) {
		out := Outcome{Reservation: row.Name, Result: ResultNotified, Token: l.Token, Reason: fmt.Sprintf("%s has it until %s", l.Holder, until.UTC().Format(time.RFC3339))}
		if l.Notice != nil && l.Notice.At.Time.Equal(until.Truncate(time.Microsecond)) {
			return out, nil
		}
		return out, r.opts.Broker.Notify(ctx, row.Name, l.Token, by, "it is taken down in the evening", until) //nolint:wrapcheck // says what it was doing
	}
	reason := "its day is over"
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

// downFree looks at what stands without a lease. By the clock that is nobody's to
// take down; by hand it is what was asked for.
func (r *Rotation) downFree(ctx context.Context, row config.Reservation, by string, byHand bool) (Outcome, error) {
	out := Outcome{Reservation: row.Name, Result: ResultUnchanged, Reason: "nothing was stood up"}
	found, err := r.discover(ctx, row)
	if err != nil {
		return out, fmt.Errorf("see what stands: %w", err)
	}
	if len(found) == 0 {
		return out, nil
	}
	if err := r.opts.Broker.QuarantineFree(ctx, row.Name, by, DescribeLeftover(found)); err != nil {
		return out, err //nolint:wrapcheck // says what it was doing
	}
	return r.Clean(ctx, row, by, byHand)
}
