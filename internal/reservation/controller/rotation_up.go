package controller

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/firstlight/firstlight/internal/reservation/broker"
	"github.com/firstlight/firstlight/internal/reservation/config"
	"github.com/firstlight/firstlight/internal/reservation/hook"
	"github.com/firstlight/firstlight/internal/reservation/lease"
)

// Up provisions the day deployment of a reservation until the end of the day. An existing deployment is left alone.
func (r *Rotation) Up(ctx context.Context, row config.Reservation, day DayTimes) (Outcome, error) {
	out := Outcome{Reservation: row.Name}
	if row.DaytimeIntent == "" {
		out.Result, out.Reason = ResultUnchanged, "the registry has no daytime-intent for it"
		return out, nil
	}
	if r.opts.CanProvision != nil {
		if err := r.opts.CanProvision(row); err != nil {
			return out, fmt.Errorf("provision %s: %w", row.Name, err)
		}
	}
	grants, err := r.opts.Broker.Acquire(ctx, broker.Request{
		Reservations: []string{row.Name}, Ticket: r.ticket(r.Holder(), "daytime "+string(row.DaytimeIntent)),
	})
	var busy *broker.BusyError
	if errors.As(err, &busy) {
		return r.existing(ctx, row, busy, day)
	}
	if err != nil {
		return out, fmt.Errorf("provision %s: %w", row.Name, err)
	}
	g := grants[0]
	out.Token, out.Deployment = g.Token, hook.NameOf("day", row.Slug, g.Token)
	err = r.withLease(ctx, g, func(ctx context.Context, l hook.Lease) error {
		if out, err = r.provision(ctx, row, out, l); err != nil || out.Result != ResultUp {
			return err
		}
		_, err := r.opts.Broker.Publish(ctx, row.Name, g.Token, day.TermEndsAt, day.MaxEndsAt, "deployment "+out.Deployment+" is ready")
		return err
	})
	if err != nil {
		out = out.fail(err)
		return out, errors.Join(context.Cause(ctx), r.abandon(ctx, row, out))
	}
	return out, nil
}

// provision creates a deployment if none exists.
func (r *Rotation) provision(ctx context.Context, row config.Reservation, out Outcome, l hook.Lease) (Outcome, error) {
	found, err := r.opts.Hooks.Discover(ctx, row.Cloud, &row, l)
	if err != nil {
		return out, fmt.Errorf("list deployments before provisioning: %w", err)
	}
	if len(found) > 0 {
		out.Result, out.Deployment, out.Reason = ResultBlocked, found[0].Name, DescribeLeftover(found)
		return out, r.opts.Broker.Quarantine(ctx, row.Name, l.Token, out.Reason)
	}
	if _, err := r.opts.Hooks.Provision(ctx, row, row.DaytimeIntent, out.Deployment, l); err != nil {
		return out, err
	}
	if err := r.opts.Ready(ctx, row, out.Deployment, l); err != nil {
		return out, fmt.Errorf("deployment %s is not ready: %w", out.Deployment, err)
	}
	out.Result = ResultUp
	return out, nil
}

// DescribeLeftover describes a deployment that should not exist.
func DescribeLeftover(found []hook.Deployment) string {
	d := found[0]
	text := fmt.Sprintf("deployment %s exists", d.Name)
	if d.Token > 0 {
		text += fmt.Sprintf(", with token %d", d.Token)
	}
	if d.Owner != "" {
		text += ", of owner " + d.Owner
	}
	if !d.Created.IsZero() {
		text += ", since " + d.Created.UTC().Format(time.RFC3339)
	}
	if len(found) > 1 {
		text += fmt.Sprintf(" (and %d more)", len(found)-1)
	}
	return text + ": its teardown was missed"
}

// existing returns the outcome for a reservation that is not free. It is up if its deployment lasts
// until the down entry of the day, also if it was published with a shorter notice; that of an earlier
// day ends before.
func (r *Rotation) existing(ctx context.Context, row config.Reservation, busy *broker.BusyError, day DayTimes) (Outcome, error) {
	now, err := r.opts.Store.GetUncached(ctx, row.Name)
	if err != nil {
		return Outcome{}, fmt.Errorf("provision %s: %w", row.Name, err)
	}
	out := Outcome{Reservation: row.Name, Result: ResultBlocked, Reason: busy.Error()}
	if l := now.Status.Lease; l != nil && l.Publisher == r.Holder() {
		out.Token, out.Deployment = l.Token, hook.NameOf("day", row.Slug, l.ProvisionedBy)
		if until := l.TermEndsAt; until == nil || !until.Time.Before(day.DownAt.Truncate(time.Microsecond)) { // as a record has it
			out.Result, out.Reason = ResultUp, "it was up already"
		} else {
			out.Reason = fmt.Sprintf("its lease ends at %s, before the end of the day at %s: it is provisioned again after that",
				until.UTC().Format(time.RFC3339), day.TermEndsAt.UTC().Format(time.RFC3339))
		}
	}
	if d := now.Status.DirtyInfo; d != nil {
		out.Reason = fmt.Sprintf("it is dirty (%s): %s", cmp.Or(d.Reason, "its lease was released"), lease.CleanCommand(row.Name))
	}
	return out, nil
}

// abandon releases a reservation after a failed provisioning, as dirty. A lost lease needs no
// release.
func (r *Rotation) abandon(ctx context.Context, row config.Reservation, out Outcome) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), r.opts.RenewInterval)
	defer cancel()
	err := r.opts.Broker.ReleaseDirty(ctx, row.Name, out.Token, out.Reason)
	if broker.IsLost(err) {
		return nil
	}
	return err
}
