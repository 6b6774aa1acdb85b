package broker

import (
	"context"
	"errors"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firstlight/firstlight/internal/reservation/lease"
	"github.com/firstlight/firstlight/internal/reservation/store"
)

// ErrNotOperator means that the caller lacks the verb operate.
var ErrNotOperator = errors.New("operator required: needs the verb operate on reservations.firstlight.dev")

// Renew renews a lease and returns it.
func (b *Broker) Renew(ctx context.Context, name string, token int64) (lease.Lease, error) {
	return b.lease(ctx, "renew", name, func(r *lease.Record, now time.Time) (lease.Lease, error) { return r.Renew(token, now) })
}

// Extend moves the end of a lease by a duration.
func (b *Broker) Extend(ctx context.Context, name string, token int64, by time.Duration, reason string) (lease.Lease, error) {
	var got lease.Lease
	var to time.Time // set once, from the uncached record: a retried request extends once
	first := true
	err := b.attempt(ctx, uncached{b.store}, name, true, func(r *store.Reservation, now time.Time) (err error) {
		if l := r.Status.Lease; first && l != nil && l.TermEndsAt != nil {
			to = l.TermEndsAt.Add(by)
		}
		first = false
		got, err = r.Status.Extend(token, to, reason, now)
		return err
	})
	if err != nil {
		return got, fmt.Errorf("extend %s: %w", name, err)
	}
	return got, nil
}

func (b *Broker) lease(ctx context.Context, doing, name string, f func(*lease.Record, time.Time) (lease.Lease, error)) (lease.Lease, error) {
	var got lease.Lease
	err := b.change(ctx, name, func(r *lease.Record, now time.Time) (err error) {
		got, err = f(r, now)
		return err
	})
	if err != nil {
		return got, fmt.Errorf("%s %s: %w", doing, name, err)
	}
	return got, nil
}

// Release releases a lease. The reservation becomes dirty unless it needs no cleaning and no
// deployment was published under the lease.
func (b *Broker) Release(ctx context.Context, name string, token int64, reason string) error {
	err := b.attempt(ctx, b.store, name, true, func(r *store.Reservation, now time.Time) error {
		published := r.Status.Lease != nil && r.Status.Lease.Publisher != ""
		return r.Status.Release(token, r.Spec.NeedsNoCleaning && !published, reason, now)
	})
	if err != nil {
		return fmt.Errorf("release %s: %w", name, err)
	}
	return nil
}

// ReleaseDirty releases a lease under which a deployment may exist.
func (b *Broker) ReleaseDirty(ctx context.Context, name string, token int64, reason string) error {
	return b.do(ctx, "release", name, func(r *lease.Record, now time.Time) error { return r.Release(token, false, reason, now) })
}

// do runs a step that grants nothing, once.
func (b *Broker) do(ctx context.Context, doing, name string, s step) error {
	err := b.attempt(ctx, b.store, name, true, func(r *store.Reservation, now time.Time) error { return s(&r.Status.Record, now) })
	if err != nil {
		return fmt.Errorf("%s %s: %w", doing, name, err)
	}
	return nil
}

// Check compares a token with the current lease, uncached. Call it before every side effect.
func (b *Broker) Check(ctx context.Context, name string, token int64) error {
	r, err := b.store.GetUncached(ctx, name)
	if err != nil {
		return fmt.Errorf("check the lease of %s: %w", name, err)
	}
	if err := r.Status.Check(token); err != nil {
		return fmt.Errorf("check the lease of %s: %w", name, err)
	}
	return nil
}

// Notify asks the holder to release the lease by a time.
func (b *Broker) Notify(ctx context.Context, name string, token int64, by, reason string, at time.Time) error {
	return b.do(ctx, "notify the holder of", name, func(r *lease.Record, now time.Time) error {
		return r.Notify(token, lease.Notice{By: by, Reason: reason, At: metav1.NewMicroTime(at)}, now)
	})
}

// Evict ends a lease on behalf of by.
func (b *Broker) Evict(ctx context.Context, name string, token int64, by, reason string) error {
	return b.do(ctx, "evict the holder of", name, func(r *lease.Record, now time.Time) error { return r.Evict(token, by, reason, now) })
}

// ConfirmRestore makes a reservation dirty after its store was restored from a backup that does
// not contain token. The caller must be an operator.
func (b *Broker) ConfirmRestore(ctx context.Context, name string, token int64, reason string) error {
	operates, err := b.store.Operates(ctx, name)
	if err != nil {
		return fmt.Errorf("confirm the restored store of %s: %w", name, err)
	}
	if !operates {
		return fmt.Errorf("confirm the restored store of %s: %w", name, ErrNotOperator)
	}
	return b.do(ctx, "confirm the restored store of", name, func(r *lease.Record, now time.Time) error {
		return r.ConfirmRestore(token, reason, now)
	})
}

// Quarantine ends a lease because of a deployment that is not its holder's.
func (b *Broker) Quarantine(ctx context.Context, name string, token int64, reason string) error {
	return b.do(ctx, "quarantine", name, func(r *lease.Record, now time.Time) error { return r.Quarantine(token, reason, now) })
}

// QuarantineClean ends a cleaning because of a deployment that it must not remove.
func (b *Broker) QuarantineClean(ctx context.Context, name string, token int64, reason string) error {
	return b.do(ctx, "quarantine", name, func(r *lease.Record, now time.Time) error { return r.QuarantineClean(token, reason, now) })
}

// QuarantineFree makes a free reservation dirty.
func (b *Broker) QuarantineFree(ctx context.Context, name, by, reason string) error {
	return b.do(ctx, "quarantine", name, func(r *lease.Record, now time.Time) error { r.QuarantineFree(by, reason, now); return nil })
}

// Publish makes a lease available for checkout until a time; see lease.Record.Publish.
func (b *Broker) Publish(ctx context.Context, name string, token int64, ends, last time.Time, reason string) (lease.Lease, error) {
	var got lease.Lease
	err := b.attempt(ctx, uncached{b.store}, name, true, func(r *store.Reservation, now time.Time) (err error) {
		if err := b.checkClock(); err != nil {
			return err
		}
		got, err = r.Status.Publish(token, ends, last, reason, now)
		return err
	})
	if err != nil {
		return got, fmt.Errorf("publish %s: %w", name, err)
	}
	return got, nil
}

// Checkout makes the ticket's owner the holder of an available lease.
func (b *Broker) Checkout(ctx context.Context, name string, t lease.Ticket) (lease.Lease, error) {
	if t.ID == "" {
		t.ID = b.opts.ID()
	}
	if t.QueuedAt.IsZero() {
		t.QueuedAt = metav1.NewMicroTime(b.clock.Now().Truncate(time.Microsecond))
	}
	var err error
	if t.User, err = b.store.Caller(ctx); err != nil {
		return lease.Lease{}, fmt.Errorf("check out %s: %w", name, err)
	}
	return b.lease(ctx, "check out", name, func(r *lease.Record, now time.Time) (lease.Lease, error) { return r.Checkout(t, now) })
}

// Checkin makes a lease that was checked out available again.
func (b *Broker) Checkin(ctx context.Context, name string, token int64, reason string) error {
	return b.do(ctx, "check in", name, func(r *lease.Record, now time.Time) error { return r.Checkin(token, reason, now) })
}

// Clean starts cleaning a dirty reservation.
func (b *Broker) Clean(ctx context.Context, name string, cleaner lease.Ticket) (Grant, error) {
	return b.clean(ctx, name, cleaner, (*lease.Record).Clean)
}

// CleanAutomatically is Clean for the controller: lease.ErrManualOnly where only an operator may
// clean the reservation.
func (b *Broker) CleanAutomatically(ctx context.Context, name string, cleaner lease.Ticket) (Grant, error) {
	return b.clean(ctx, name, cleaner, (*lease.Record).CleanAutomatically)
}

// CleanLeftover is CleanAutomatically, also of a free reservation in which a deployment was found.
func (b *Broker) CleanLeftover(ctx context.Context, name, reason string, cleaner lease.Ticket) (Grant, error) {
	return b.clean(ctx, name, cleaner, func(r *lease.Record, t lease.Ticket, now time.Time) (lease.Lease, error) {
		return r.CleanLeftover(t, reason, now)
	})
}

func (b *Broker) clean(ctx context.Context, name string, cleaner lease.Ticket, step func(*lease.Record, lease.Ticket, time.Time) (lease.Lease, error)) (Grant, error) {
	if cleaner.ID == "" {
		cleaner.ID = b.opts.ID()
	}
	var err error
	if cleaner.User, err = b.store.Caller(ctx); err != nil {
		return Grant{}, fmt.Errorf("clean %s: %w", name, err)
	}
	begun := claims{}
	l, err := b.lease(ctx, "clean", name, func(r *lease.Record, now time.Time) (lease.Lease, error) {
		l, err := step(r, cleaner, now)
		if err == nil {
			begun.note(l.Token, b.holderTime())
		}
		return l, err
	})
	return begun.grant(name, l), err
}

// RenewClean renews a cleaning lease.
func (b *Broker) RenewClean(ctx context.Context, name string, token int64) (lease.Lease, error) {
	return b.lease(ctx, "renew the cleaning of", name, func(r *lease.Record, now time.Time) (lease.Lease, error) { return r.RenewClean(token, now) })
}

// FinishClean frees a cleaned reservation.
func (b *Broker) FinishClean(ctx context.Context, name string, token int64, reason string) error {
	return b.do(ctx, "finish cleaning", name, func(r *lease.Record, now time.Time) error { return r.FinishClean(token, reason, now) })
}

// FailClean leaves the reservation dirty after a failed cleaning.
func (b *Broker) FailClean(ctx context.Context, name string, token int64, reason string) error {
	return b.do(ctx, "fail the cleaning of", name, func(r *lease.Record, now time.Time) error { return r.FailClean(token, reason, now) })
}
