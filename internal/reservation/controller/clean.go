package controller

import (
	"context"
	"errors"
	"fmt"

	"github.com/firstlight/firstlight/internal/reservation/broker"
	"github.com/firstlight/firstlight/internal/reservation/hook"
	"github.com/firstlight/firstlight/internal/reservation/lease"
	"github.com/firstlight/firstlight/internal/reservation/config"
)

func (r *Rotation) discover(ctx context.Context, row config.Reservation) ([]hook.Deployment, error) {
	return r.opts.Hooks.Discover(ctx, row.Cloud, &row, hook.Lease{}) //nolint:wrapcheck // says what it was doing
}

// Clean takes down whatever a lease has left on a reservation, under a lease of its own,
// and frees it when nothing stands there any more.
func (r *Rotation) Clean(ctx context.Context, row config.Reservation, by string, byHand bool) (Outcome, error) {
	out := Outcome{Reservation: row.Name}
	now, err := r.opts.Store.GetUncached(ctx, row.Name)
	if err != nil {
		return out, fmt.Errorf("clean %s: %w", row.Name, err)
	}
	if d := now.Status.DirtyInfo; d != nil && d.ManualOnly && !byHand {
		out.Result, out.Reason = ResultBlocked, fmt.Sprintf("%s: it waits for: firstlight reservation rotation down --reservation %s", d.Reason, row.Name)
		return out, nil
	}
	l, err := r.opts.Broker.Clean(ctx, row.Name, r.ticket(by, "cleaning"))
	if errors.Is(err, lease.ErrNotDirty) {
		return r.notDirty(ctx, row)
	}
	if err != nil {
		return out, err //nolint:wrapcheck // says what it was doing
	}
	out.Token = l.Token
	err = r.withLease(ctx, broker.Grant{Reservation: row.Name, Lease: l}, func(ctx context.Context, l hook.Lease) error {
		removed, err := r.teardownAll(ctx, row, l, byHand)
		if len(removed) > 0 {
			out.Deployment = removed[0]
		}
		if err != nil {
			return err
		}
		return r.opts.Broker.FinishClean(ctx, row.Name, l.Token, fmt.Sprintf("%d deployments were taken down, and none stands", len(removed))) //nolint:wrapcheck // says what it was doing
	})
	if err == nil {
		out.Result = ResultCleaned
		return out, nil
	}
	out.Result, out.Reason = ResultFailed, err.Error()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), r.opts.RenewInterval)
	defer cancel()
	if failed := r.opts.Broker.FailClean(ctx, row.Name, l.Token, err.Error()); failed != nil && !broker.IsLost(failed) {
		return out, failed //nolint:wrapcheck // says what it was doing
	}
	return out, nil
}

// notDirty says what became of a reservation that was to be cleaned. What somebody else
// cleans is not clean.
func (r *Rotation) notDirty(ctx context.Context, row config.Reservation) (Outcome, error) {
	out := Outcome{Reservation: row.Name, Result: ResultUnchanged, Reason: "there is nothing to clean"}
	now, err := r.opts.Store.GetUncached(ctx, row.Name)
	if err != nil {
		return out, fmt.Errorf("clean %s: %w", row.Name, err)
	}
	if s := now.Status.CurrentState(); s != lease.Free {
		out.Result, out.Reason = ResultBlocked, "it is "+string(s)
		if l := now.Status.Lease; l != nil {
			out.Reason += " by " + l.Holder
		}
	}
	return out, nil
}

// takeDown removes what stands on a reservation, and answers what it removed. What is
// not of this owner is left, unless somebody was told to take it down.
func (r *Rotation) teardownAll(ctx context.Context, row config.Reservation, l hook.Lease, byHand bool) (removed []string, err error) {
	found, err := r.opts.Hooks.Discover(ctx, row.Cloud, &row, l)
	if err != nil {
		return nil, fmt.Errorf("see what stands: %w", err)
	}
	var errs []error
	for _, d := range found {
		if d.Owner != r.opts.Hooks.Owner() && !byHand {
			errs = append(errs, fmt.Errorf("deployment %s is of %q, not of %q: it is not taken down by itself", d.Name, d.Owner, r.opts.Hooks.Owner()))
			continue
		}
		if err := r.opts.Hooks.Teardown(ctx, row, d.Name, l); err != nil {
			errs = append(errs, err)
			continue
		}
		removed = append(removed, d.Name)
	}
	if len(errs) > 0 {
		return removed, errors.Join(errs...)
	}
	left, err := r.opts.Hooks.Discover(ctx, row.Cloud, &row, l)
	if err != nil {
		return removed, fmt.Errorf("see that nothing stands: %w", err)
	}
	if len(left) > 0 {
		return removed, fmt.Errorf("%s still stands", left[0].Name)
	}
	return removed, nil
}
