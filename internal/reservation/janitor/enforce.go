package janitor

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/firstlight/firstlight/internal/reservation/broker"
	"github.com/firstlight/firstlight/internal/reservation/config"
	"github.com/firstlight/firstlight/internal/reservation/hook"
	"github.com/firstlight/firstlight/internal/reservation/lease"
)

// Enforce removes the deployments that a report marks for removal and returns the updated report.
func (j *Janitor) Enforce(ctx context.Context, report Report) (Report, error) {
	report.Enforced = true
	work := map[string][]*Decision{}
	var order []string
	for i := range report.Decisions {
		d := &report.Decisions[i]
		if d.Verdict != Remove {
			continue
		}
		name := d.Deployment.Reservation
		if work[name] == nil {
			order = append(order, name)
		}
		work[name] = append(work[name], d)
	}
	var errs []error
	for _, name := range order {
		if err := j.clean(ctx, name, work[name]); err != nil {
			errs = append(errs, err)
		}
	}
	return report, errors.Join(errs...)
}

// setVerdict sets the verdict of all decisions that are still to remove.
func setVerdict(all []*Decision, v Verdict, format string, args ...any) {
	for _, d := range all {
		if d.Verdict == Remove {
			d.Verdict, d.Reason = v, fmt.Sprintf(format, args...)
		}
	}
}

// endTimeout bounds the end of a lease after ctx has ended.
const endTimeout = 30 * time.Second

// clean removes deployments of one reservation under a cleaning lease.
func (j *Janitor) clean(ctx context.Context, name string, all []*Decision) error {
	row, _ := j.opts.Registry.Find(name) // only known reservations have deployments to remove
	g, err := j.opts.Broker.CleanLeftover(ctx, name, "deployment "+all[0].Deployment.Name+" exists without a live lease",
		lease.Ticket{Holder: j.opts.Holder, Purpose: "janitor", RenewInterval: lease.Duration(j.opts.RenewInterval)})
	if err != nil {
		setVerdict(all, Blocked, "it cannot be removed now: %v", err)
		if errors.Is(err, lease.ErrNotDirty) || errors.Is(err, lease.ErrManualOnly) {
			return nil // the reservation has a holder, or needs an operator
		}
		return err
	}
	var remaining []string
	err = broker.IgnoreLostIfDone(j.opts.Broker.Hold(ctx, []broker.Grant{g}, nil, func(ctx context.Context) (err error) {
		remaining, err = j.remove(ctx, row, hook.Lease{Token: g.Token, Holder: g.Holder}, all)
		return err
	}))
	for _, d := range all {
		if d.Verdict == Remove {
			d.Hook = hook.FailureOf(err)
		}
	}
	setVerdict(all, Failed, "it was not removed: %v", err)
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), endTimeout)
	defer cancel()
	if err != nil || len(remaining) > 0 {
		reason := "remaining: " + strings.Join(remaining, ", ")
		if err != nil {
			reason = err.Error()
		}
		return errors.Join(err, j.opts.Broker.FailClean(last, name, g.Token, reason))
	}
	return j.opts.Broker.FinishClean(last, name, g.Token, "the janitor removed all leftover deployments")
}

// remove decides again under the lease, removes, and returns the remaining deployments.
func (j *Janitor) remove(ctx context.Context, row config.Reservation, l hook.Lease, all []*Decision) (remaining []string, err error) {
	now, err := j.opts.Hooks.Discover(ctx, row.Cloud, &row, l)
	if err != nil {
		return nil, fmt.Errorf("list deployments: %w", err)
	}
	found := map[string]hook.Deployment{}
	for _, d := range now {
		found[d.Name] = d
	}
	var errs []error
	for _, d := range all {
		if err := j.removeOne(ctx, row, l, d, found); err != nil {
			errs = append(errs, err)
		}
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	left, err := j.opts.Hooks.Discover(ctx, row.Cloud, &row, l)
	if err != nil {
		return nil, fmt.Errorf("list remaining deployments: %w", err)
	}
	for _, d := range left {
		remaining = append(remaining, d.Name)
	}
	return remaining, nil
}

func (j *Janitor) removeOne(ctx context.Context, row config.Reservation, l hook.Lease, d *Decision, found map[string]hook.Deployment) error {
	was := d.Deployment
	now, ok := found[was.Name]
	switch {
	case !ok:
		d.Verdict, d.Reason = Removed, d.Reason+"; it was removed already"
		return nil
	case now.Token != was.Token || now.Owner != was.Owner || !now.Created.Equal(was.Created):
		d.Verdict, d.Reason = Blocked, "its labels have changed since the decision"
		return nil
	}
	again, err := j.decide(ctx, d.Cloud, now, l.Token)
	if err != nil {
		return err
	}
	if again.Verdict != Remove {
		*d = again
		return nil
	}
	if err := j.opts.Hooks.Teardown(ctx, row, was.Name, l); err != nil {
		d.Verdict, d.Reason, d.Hook = Failed, err.Error(), hook.FailureOf(err)
		return err
	}
	d.Verdict, d.Reason = Removed, again.Reason
	return nil
}
