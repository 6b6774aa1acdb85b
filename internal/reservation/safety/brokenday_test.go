package safety

import (
	"context"
	"errors"
	"time"

	"github.com/firstlight/firstlight/internal/reservation/broker"
	"github.com/firstlight/firstlight/internal/reservation/lease"
	"github.com/firstlight/firstlight/internal/reservation/store"
)

// byDayBroken is wrong in what it does while people have a reservation.
type byDayBroken struct {
	*broker.Broker
	kept   broker.Store
	defect defect
}

// change makes a step by itself, right up to the defect in it.
func (b *byDayBroken) change(ctx context.Context, name string, step func(*lease.Record) (lease.Lease, error)) (lease.Lease, error) {
	for {
		r, err := b.kept.GetUncached(ctx, name)
		if err != nil {
			return lease.Lease{}, err
		}
		next := *r
		next.Status.Record = *r.Status.Record.DeepCopy()
		got, err := step(&next.Status.Record)
		if err != nil || next.Status.Events == r.Status.Events {
			return got, err
		}
		caller, err := b.kept.Caller(ctx)
		if err != nil {
			return got, err
		}
		next.Status.Sign(r.Status.Events, caller)
		if _, err := b.kept.Save(ctx, &next); !errors.Is(err, store.ErrConflict) {
			return got, err
		}
	}
}

func (b *byDayBroken) Checkout(ctx context.Context, name string, t lease.Ticket) (lease.Lease, error) {
	if b.defect != takeKeepsToken && b.defect != takeFromTaker {
		return b.Broker.Checkout(ctx, name, t)
	}
	t.ID = t.Holder
	return b.change(ctx, name, func(r *lease.Record) (lease.Lease, error) {
		before := r.DeepCopy()
		if l := r.Lease; b.defect == takeFromTaker && l != nil && l.Publisher != "" {
			l.Available = true
		}
		got, err := r.Checkout(t, time.Now())
		if err == nil && b.defect == takeKeepsToken && r.Events > before.Events {
			got.Token, r.Lease.Token, r.Token = before.Lease.Token, before.Lease.Token, before.Token
			r.Recent[len(r.Recent)-1].Token = before.Lease.Token
		}
		return got, err
	})
}

// shown is the token of the lease there is, where any is good.
func (b *byDayBroken) shown(ctx context.Context, name string, token int64) int64 {
	if b.defect != dayUnfenced {
		return token
	}
	return (&unfenced{kept: b.kept}).any(ctx, name, token)
}

func (b *byDayBroken) Publish(ctx context.Context, name string, token int64, ends, last time.Time, reason string) (lease.Lease, error) {
	return b.Broker.Publish(ctx, name, b.shown(ctx, name, token), ends, last, reason)
}

func (b *byDayBroken) Notify(ctx context.Context, name string, token int64, by, reason string, at time.Time) error {
	return b.Broker.Notify(ctx, name, b.shown(ctx, name, token), by, reason, at)
}

func (b *byDayBroken) Checkin(ctx context.Context, name string, token int64, reason string) error {
	if b.defect != backKeepsToken {
		return b.Broker.Checkin(ctx, name, b.shown(ctx, name, token), reason)
	}
	_, err := b.change(ctx, name, func(r *lease.Record) (lease.Lease, error) {
		err := r.Checkin(token, reason, time.Now())
		if l := r.Lease; err == nil && l != nil && l.Available {
			l.Token = token
		}
		return lease.Lease{}, err
	})
	return err
}

func (b *byDayBroken) Extend(ctx context.Context, name string, token int64, by time.Duration, reason string) (lease.Lease, error) {
	if b.defect != limitless {
		return b.Broker.Extend(ctx, name, b.shown(ctx, name, token), by, reason)
	}
	return b.change(ctx, name, func(r *lease.Record) (lease.Lease, error) {
		var last *lease.Lease
		to := time.Time{}
		if l := r.Lease; l != nil && l.TermEndsAt != nil {
			last, to = r.DeepCopy().Lease, l.TermEndsAt.Add(5*by)
			l.MaxEndsAt = nil
		}
		got, err := r.Extend(token, to, reason, time.Now())
		if last != nil && r.Lease != nil {
			r.Lease.MaxEndsAt, got.MaxEndsAt = last.MaxEndsAt, last.MaxEndsAt
		}
		return got, err
	})
}

func (b *byDayBroken) Quarantine(ctx context.Context, name string, token int64, reason string) error {
	if b.defect != impoundToFree {
		return b.Broker.Quarantine(ctx, name, b.shown(ctx, name, token), reason)
	}
	_, err := b.change(ctx, name, func(r *lease.Record) (lease.Lease, error) {
		before := r.Events
		err := r.Quarantine(token, reason, time.Now())
		if err == nil && r.Events > before {
			r.State, r.DirtyInfo, r.Recent[len(r.Recent)-1].State = lease.Free, nil, lease.Free
		}
		return lease.Lease{}, err
	})
	return err
}
