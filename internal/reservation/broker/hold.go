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

// ErrNotOperator refuses what only operators may do.
var ErrNotOperator = errors.New("only an operator may do it: who has the verb operate on reservations.firstlight.dev")

// Renew says that the holder is still there, and tells how the lease stands.
func (b *Broker) Renew(ctx context.Context, name string, token int64) (lease.Lease, error) {
	return b.lease(ctx, "renew", name, func(r *lease.Record, now time.Time) (lease.Lease, error) { return r.Renew(token, now) })
}

// Extend lets a lease end later by so much.
func (b *Broker) Extend(ctx context.Context, name string, token int64, by time.Duration, reason string) (lease.Lease, error) {
	var got lease.Lease
	var to time.Time // stated once, of what the API server has: a request that comes twice extends once
	first := true
	err := b.changeObject(ctx, uncached{b.store}, name, func(r *store.Reservation, now time.Time) (err error) {
		if l := r.Status.Lease; first && l != nil && l.TermEndsAt != nil {
			to = l.TermEndsAt.Add(by)
		}
		first = false
		got, err = r.Status.Extend(token, to, reason, now)
		return err //nolint:wrapcheck // below
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

// Release gives a reservation back. What has to be cleaned is dirty then.
func (b *Broker) Release(ctx context.Context, name string, token int64, reason string) error {
	err := b.changeObject(ctx, b.store, name, func(r *store.Reservation, now time.Time) error {
		return r.Status.Release(token, r.Spec.NeedsNoCleaning, reason, now)
	})
	if err != nil {
		return fmt.Errorf("release %s: %w", name, err)
	}
	return nil
}

func (b *Broker) do(ctx context.Context, doing, name string, s step) error {
	if err := b.change(ctx, name, s); err != nil {
		return fmt.Errorf("%s %s: %w", doing, name, err)
	}
	return nil
}

// Check asks the store, not a copy of it, whether a token is that of the lease there
// is. Whoever is about to do something in its name asks first.
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

// Notify asks the holder to be gone by a time.
func (b *Broker) Notify(ctx context.Context, name string, token int64, by, reason string, at time.Time) error {
	return b.do(ctx, "give notice to the holder of", name, func(r *lease.Record, now time.Time) error {
		return r.Notify(token, lease.Notice{By: by, Reason: reason, At: metav1.NewMicroTime(at)}, now)
	})
}

// Evict ends whatever lease there is.
func (b *Broker) Evict(ctx context.Context, name string, token int64, by, reason string) error {
	return b.do(ctx, "evict the holder of", name, func(r *lease.Record, now time.Time) error { return r.Evict(token, by, reason, now) })
}

// ConfirmRestore makes a reservation dirty whose store was restored from a backup: an
// operator says so, of a token that the store does not know.
func (b *Broker) ConfirmRestore(ctx context.Context, name string, token int64, reason string) error {
	operates, err := b.store.Operates(ctx, name)
	if err != nil {
		return fmt.Errorf("confirm that the store of %s was restored: %w", name, err)
	}
	if !operates {
		return fmt.Errorf("confirm that the store of %s was restored: %w", name, ErrNotOperator)
	}
	return b.do(ctx, "confirm that the store was restored of", name, func(r *lease.Record, now time.Time) error {
		return r.ConfirmRestore(token, reason, now)
	})
}

// Impound ends a lease under which something was found that is not its holder's.
func (b *Broker) Quarantine(ctx context.Context, name string, token int64, reason string) error {
	return b.do(ctx, "impound", name, func(r *lease.Record, now time.Time) error { return r.Quarantine(token, reason, now) })
}

// Block makes what is free dirty.
func (b *Broker) QuarantineFree(ctx context.Context, name, by, reason string) error {
	return b.do(ctx, "block", name, func(r *lease.Record, now time.Time) error { r.QuarantineFree(by, reason, now); return nil })
}

// Stand opens a lease to others until a time; see lease.Record.Stand.
func (b *Broker) Publish(ctx context.Context, name string, token int64, ends, last time.Time, reason string) (lease.Lease, error) {
	return b.lease(ctx, "open", name, func(r *lease.Record, now time.Time) (lease.Lease, error) {
		return r.Publish(token, ends, last, reason, now)
	})
}

// Take makes somebody the holder of a lease that is open.
func (b *Broker) Checkout(ctx context.Context, name string, t lease.Ticket) (lease.Lease, error) {
	if t.ID == "" {
		t.ID = b.opts.ID()
	}
	if t.QueuedAt.IsZero() {
		t.QueuedAt = metav1.NewMicroTime(b.clock.Now().Truncate(time.Microsecond))
	}
	var err error
	if t.User, err = b.store.Caller(ctx); err != nil {
		return lease.Lease{}, fmt.Errorf("take %s: %w", name, err)
	}
	return b.lease(ctx, "take", name, func(r *lease.Record, now time.Time) (lease.Lease, error) { return r.Checkout(t, now) })
}

// HandBack opens a lease again that was taken.
func (b *Broker) Checkin(ctx context.Context, name string, token int64, reason string) error {
	return b.do(ctx, "hand back", name, func(r *lease.Record, now time.Time) error { return r.Checkin(token, reason, now) })
}

// Clean begins to clean what is dirty.
func (b *Broker) Clean(ctx context.Context, name string, cleaner lease.Ticket) (lease.Lease, error) {
	if cleaner.ID == "" {
		cleaner.ID = b.opts.ID()
	}
	var err error
	if cleaner.User, err = b.store.Caller(ctx); err != nil {
		return lease.Lease{}, fmt.Errorf("clean %s: %w", name, err)
	}
	return b.lease(ctx, "clean", name, func(r *lease.Record, now time.Time) (lease.Lease, error) { return r.Clean(cleaner, now) })
}

// RenewClean says that the cleaner is still at it.
func (b *Broker) RenewClean(ctx context.Context, name string, token int64) (lease.Lease, error) {
	return b.lease(ctx, "go on cleaning", name, func(r *lease.Record, now time.Time) (lease.Lease, error) { return r.RenewClean(token, now) })
}

// FinishClean frees what was cleaned.
func (b *Broker) FinishClean(ctx context.Context, name string, token int64, reason string) error {
	return b.do(ctx, "finish cleaning", name, func(r *lease.Record, now time.Time) error { return r.FinishClean(token, reason, now) })
}

// FailClean leaves dirty what could not be cleaned.
func (b *Broker) FailClean(ctx context.Context, name string, token int64, reason string) error {
	return b.do(ctx, "give up cleaning", name, func(r *lease.Record, now time.Time) error { return r.FailClean(token, reason, now) })
}
