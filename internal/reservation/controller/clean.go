package controller

import (
	"context"
	"errors"
	"fmt"

	"github.com/firstlight/firstlight/internal/reservation/broker"
	"github.com/firstlight/firstlight/internal/reservation/config"
	"github.com/firstlight/firstlight/internal/reservation/hook"
	"github.com/firstlight/firstlight/internal/reservation/lease"
)

func (r *Rotation) discover(ctx context.Context, row config.Reservation) ([]hook.Deployment, error) {
	return r.opts.Hooks.Discover(ctx, row.Cloud, &row, hook.Lease{})
}

// Clean removes all deployments that a lease left on a reservation, under a cleaning lease, and
// frees it.
func (r *Rotation) Clean(ctx context.Context, row config.Reservation, by string, byHand bool) (Outcome, error) {
	out := Outcome{Reservation: row.Name}
	now, err := r.opts.Store.GetUncached(ctx, row.Name)
	if err != nil {
		return out, fmt.Errorf("clean %s: %w", row.Name, err)
	}
	if d := now.Status.DirtyInfo; d != nil && d.ManualOnly && !byHand {
		out.Result, out.Reason = ResultBlocked, lease.NeedsOperator(d.Reason, row.Name)
		return out, nil
	}
	clean := r.opts.Broker.CleanAutomatically
	if byHand {
		clean = r.opts.Broker.Clean
	}
	g, err := clean(ctx, row.Name, r.ticket(by, "cleaning"))
	if errors.Is(err, lease.ErrManualOnly) { // quarantined since it was read
		out.Result, out.Reason = ResultBlocked, lease.NeedsOperator(err.Error(), row.Name)
		return out, nil
	}
	if errors.Is(err, lease.ErrNotDirty) {
		return r.notDirty(ctx, row)
	}
	if err != nil {
		return out, err
	}
	out.Token = g.Token
	var removed []string
	err = r.withLease(ctx, g, func(ctx context.Context, l hook.Lease) (err error) {
		removed, err = r.teardownAll(ctx, row, l, byHand)
		if newer, ok := errors.AsType[*newerError](err); ok {
			out.Result, out.Deployment, out.Reason = ResultBlocked, newer.name, lease.NeedsOperator(newer.Error(), row.Name)
			return r.opts.Broker.QuarantineClean(ctx, row.Name, l.Token, newer.Error())
		}
		return err
	})
	if err == nil && out.Result == ResultBlocked {
		return out, nil
	}
	if len(removed) > 0 {
		out.Deployment = removed[0]
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), r.opts.RenewInterval)
	defer cancel()
	if err == nil { // a renewal would take the end of the cleaning for a lost lease
		err = r.opts.Broker.FinishClean(ctx, row.Name, g.Token, fmt.Sprintf("%d deployments removed, none left", len(removed)))
	}
	if err == nil {
		out.Result = ResultCleaned
		return out, nil
	}
	out = out.fail(err)
	if failed := r.opts.Broker.FailClean(ctx, row.Name, g.Token, err.Error()); failed != nil && !broker.IsLost(failed) {
		return out, failed
	}
	return out, nil
}

// notDirty returns the outcome for a reservation that is not dirty. A reservation that another
// holder is cleaning is not clean.
func (r *Rotation) notDirty(ctx context.Context, row config.Reservation) (Outcome, error) {
	out := Outcome{Reservation: row.Name, Result: ResultUnchanged, Reason: "it is clean"}
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

// newerError means that a deployment is of a lease that the store does not know.
type newerError struct {
	name         string
	token, known int64
}

func (e *newerError) Error() string {
	return fmt.Sprintf("deployment %s has token %d, and the highest granted before was %d: the store was restored from a backup, and its holder may be alive", e.name, e.token, e.known)
}

// checkTokens returns a newerError if a deployment is newer than the lease that left the reservation
// dirty. The cleaning lease has a newer token still, so the hook does not refuse the teardown.
func (r *Rotation) checkTokens(ctx context.Context, row config.Reservation, found []hook.Deployment) error {
	if len(found) == 0 {
		return nil
	}
	now, err := r.opts.Store.GetUncached(ctx, row.Name)
	if err != nil {
		return err
	}
	info := now.Status.DirtyInfo
	if info == nil || info.Token == 0 {
		return nil
	}
	for _, d := range found {
		if d.Owner == r.opts.Hooks.Owner() && d.Token > info.Token {
			return &newerError{d.Name, d.Token, info.Token}
		}
	}
	return nil
}

// teardownAll removes the deployments of a reservation and returns their names. Deployments of
// other owners, and of leases that the store does not know, are removed only by hand.
func (r *Rotation) teardownAll(ctx context.Context, row config.Reservation, l hook.Lease, byHand bool) (removed []string, err error) {
	found, err := r.opts.Hooks.Discover(ctx, row.Cloud, &row, l)
	if err != nil {
		return nil, fmt.Errorf("list deployments: %w", err)
	}
	if !byHand {
		if err := r.checkTokens(ctx, row, found); err != nil {
			return nil, err
		}
	}
	var errs []error
	for _, d := range found {
		if d.Owner != r.opts.Hooks.Owner() && !byHand {
			errs = append(errs, fmt.Errorf("deployment %s belongs to %q, not to %q: it is not removed automatically", d.Name, d.Owner, r.opts.Hooks.Owner()))
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
		return removed, fmt.Errorf("list remaining deployments: %w", err)
	}
	if len(left) > 0 {
		return removed, fmt.Errorf("deployment %s still exists", left[0].Name)
	}
	return removed, nil
}
