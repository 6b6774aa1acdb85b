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
		r, err := b.kept.Fresh(ctx, name)
		if err != nil {
			return lease.Lease{}, err
		}
		next := *r
		next.Status.Record = *r.Status.Clone()
		got, err := step(&next.Status.Record)
		if err != nil || next.Status.Transitions == r.Status.Transitions {
			return got, err
		}
		caller, err := b.kept.Caller(ctx)
		if err != nil {
			return got, err
		}
		next.Status.Sign(r.Status.Transitions, caller)
		if _, err := b.kept.Save(ctx, &next); !errors.Is(err, store.ErrConflict) {
			return got, err
		}
	}
}

func (b *byDayBroken) Take(ctx context.Context, name string, t lease.Ticket) (lease.Lease, error) {
	if b.defect != takeKeepsToken && b.defect != takeFromTaker {
		return b.Broker.Take(ctx, name, t)
	}
	t.ID = t.Holder
	return b.change(ctx, name, func(r *lease.Record) (lease.Lease, error) {
		before := r.Clone()
		if l := r.Lease; b.defect == takeFromTaker && l != nil && l.Opener != "" {
			l.Open = true
		}
		got, err := r.Take(t, time.Now())
		if err == nil && b.defect == takeKeepsToken && r.Transitions > before.Transitions {
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

func (b *byDayBroken) Stand(ctx context.Context, name string, token int64, ends, last time.Time, why string) (lease.Lease, error) {
	return b.Broker.Stand(ctx, name, b.shown(ctx, name, token), ends, last, why)
}

func (b *byDayBroken) Notify(ctx context.Context, name string, token int64, by, why string, at time.Time) error {
	return b.Broker.Notify(ctx, name, b.shown(ctx, name, token), by, why, at)
}

func (b *byDayBroken) HandBack(ctx context.Context, name string, token int64, why string) error {
	if b.defect != backKeepsToken {
		return b.Broker.HandBack(ctx, name, b.shown(ctx, name, token), why)
	}
	_, err := b.change(ctx, name, func(r *lease.Record) (lease.Lease, error) {
		err := r.HandBack(token, why, time.Now())
		if l := r.Lease; err == nil && l != nil && l.Open {
			l.Token = token
		}
		return lease.Lease{}, err
	})
	return err
}

func (b *byDayBroken) Extend(ctx context.Context, name string, token int64, by time.Duration, why string) (lease.Lease, error) {
	if b.defect != limitless {
		return b.Broker.Extend(ctx, name, b.shown(ctx, name, token), by, why)
	}
	return b.change(ctx, name, func(r *lease.Record) (lease.Lease, error) {
		var last *lease.Lease
		to := time.Time{}
		if l := r.Lease; l != nil && l.Ends != nil {
			last, to = r.Clone().Lease, l.Ends.Add(5*by)
			l.Last = nil
		}
		got, err := r.Extend(token, to, why, time.Now())
		if last != nil && r.Lease != nil {
			r.Lease.Last, got.Last = last.Last, last.Last
		}
		return got, err
	})
}

func (b *byDayBroken) Impound(ctx context.Context, name string, token int64, why string) error {
	if b.defect != impoundToFree {
		return b.Broker.Impound(ctx, name, b.shown(ctx, name, token), why)
	}
	_, err := b.change(ctx, name, func(r *lease.Record) (lease.Lease, error) {
		before := r.Transitions
		err := r.Impound(token, why, time.Now())
		if err == nil && r.Transitions > before {
			r.State, r.Dirt, r.Recent[len(r.Recent)-1].To = lease.Free, nil, lease.Free
		}
		return lease.Lease{}, err
	})
	return err
}
