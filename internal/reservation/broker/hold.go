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
func (b *Broker) Extend(ctx context.Context, name string, token int64, by time.Duration, why string) (lease.Lease, error) {
	var got lease.Lease
	var to time.Time // stated once, of what the API server has: a request that comes twice extends once
	first := true
	err := b.changeObject(ctx, asked{b.store}, name, func(r *store.Reservation, now time.Time) (err error) {
		if l := r.Status.Lease; first && l != nil && l.Ends != nil {
			to = l.Ends.Add(by)
		}
		first = false
		got, err = r.Status.Extend(token, to, why, now)
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
func (b *Broker) Release(ctx context.Context, name string, token int64, why string) error {
	err := b.changeObject(ctx, b.store, name, func(r *store.Reservation, now time.Time) error {
		return r.Status.Release(token, r.Spec.NeedsNoCleaning, why, now)
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
	r, err := b.store.Fresh(ctx, name)
	if err != nil {
		return fmt.Errorf("check the lease of %s: %w", name, err)
	}
	if err := r.Status.Check(token); err != nil {
		return fmt.Errorf("check the lease of %s: %w", name, err)
	}
	return nil
}

// Notify asks the holder to be gone by a time.
func (b *Broker) Notify(ctx context.Context, name string, token int64, by, why string, at time.Time) error {
	return b.do(ctx, "give notice to the holder of", name, func(r *lease.Record, now time.Time) error {
		return r.Notify(token, lease.Notice{By: by, Why: why, At: metav1.NewMicroTime(at)}, now)
	})
}

// Evict ends whatever lease there is.
func (b *Broker) Evict(ctx context.Context, name string, token int64, by, why string) error {
	return b.do(ctx, "evict the holder of", name, func(r *lease.Record, now time.Time) error { return r.Evict(token, by, why, now) })
}

// ConfirmRestore makes a reservation dirty whose store was restored from a backup: an
// operator says so, of a token that the store does not know.
func (b *Broker) ConfirmRestore(ctx context.Context, name string, token int64, why string) error {
	operates, err := b.store.Operates(ctx, name)
	if err != nil {
		return fmt.Errorf("confirm that the store of %s was restored: %w", name, err)
	}
	if !operates {
		return fmt.Errorf("confirm that the store of %s was restored: %w", name, ErrNotOperator)
	}
	return b.do(ctx, "confirm that the store was restored of", name, func(r *lease.Record, now time.Time) error {
		return r.ConfirmRestore(token, why, now)
	})
}

// Impound ends a lease under which something was found that is not its holder's.
func (b *Broker) Impound(ctx context.Context, name string, token int64, why string) error {
	return b.do(ctx, "impound", name, func(r *lease.Record, now time.Time) error { return r.Impound(token, why, now) })
}

// Block makes what is free dirty.
func (b *Broker) Block(ctx context.Context, name, by, why string) error {
	return b.do(ctx, "block", name, func(r *lease.Record, now time.Time) error { r.Block(by, why, now); return nil })
}

// Stand opens a lease to others until a time; see lease.Record.Stand.
func (b *Broker) Stand(ctx context.Context, name string, token int64, ends, last time.Time, why string) (lease.Lease, error) {
	return b.lease(ctx, "open", name, func(r *lease.Record, now time.Time) (lease.Lease, error) {
		return r.Stand(token, ends, last, why, now)
	})
}

// Take makes somebody the holder of a lease that is open.
func (b *Broker) Take(ctx context.Context, name string, t lease.Ticket) (lease.Lease, error) {
	if t.ID == "" {
		t.ID = b.opts.ID()
	}
	if t.Since.IsZero() {
		t.Since = metav1.NewMicroTime(b.clock.Now().Truncate(time.Microsecond))
	}
	var err error
	if t.User, err = b.store.Caller(ctx); err != nil {
		return lease.Lease{}, fmt.Errorf("take %s: %w", name, err)
	}
	return b.lease(ctx, "take", name, func(r *lease.Record, now time.Time) (lease.Lease, error) { return r.Take(t, now) })
}

// HandBack opens a lease again that was taken.
func (b *Broker) HandBack(ctx context.Context, name string, token int64, why string) error {
	return b.do(ctx, "hand back", name, func(r *lease.Record, now time.Time) error { return r.HandBack(token, why, now) })
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
func (b *Broker) FinishClean(ctx context.Context, name string, token int64, why string) error {
	return b.do(ctx, "finish cleaning", name, func(r *lease.Record, now time.Time) error { return r.FinishClean(token, why, now) })
}

// FailClean leaves dirty what could not be cleaned.
func (b *Broker) FailClean(ctx context.Context, name string, token int64, why string) error {
	return b.do(ctx, "give up cleaning", name, func(r *lease.Record, now time.Time) error { return r.FailClean(token, why, now) })
}
