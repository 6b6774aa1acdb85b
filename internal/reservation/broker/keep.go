package broker

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/firstlight/firstlight/internal/reservation/lease"
)

// ErrRenewFailed means that the lease could not be renewed in time; another holder may have it.
var ErrRenewFailed = errors.New("the lease could not be renewed")

var errNotRenewed = errors.New("it was not renewed since its claim")

// renewalsPerInterval renewals are made in an interval. After stopAfterOf3 thirds of it without
// one, the holder stops. Its work must end in the last third: then the lease can be given to
// another.
const renewalsPerInterval, stopAfterOf3 = 5, 2

// termCheck before the end of a term, a lease is renewed once more: its grace period counts from
// the last renewal, and the term may have been extended.
const termCheck = 5 * time.Second

// KeepAlive renews leases, of holders and cleaners, until ctx ends, which is not an error, or
// until one is lost or its term ends. renewed, if set, is called with each renewed lease: its notice
// and end may have changed. The interval counts from the begin of the last renewal that succeeded,
// at first from the claim.
func (b *Broker) KeepAlive(ctx context.Context, grants []Grant, renewed func(Grant)) error {
	period := time.Duration(0)
	for _, g := range grants {
		if p := g.RenewInterval.Duration; p > 0 && (period == 0 || p < period) {
			period = p
		}
	}
	if period == 0 {
		<-ctx.Done()
		return nil
	}
	every, limit := period/renewalsPerInterval, period*stopAfterOf3/3
	last, ends := b.firstClaim(grants), termEnd(grants)
	for err := errNotRenewed; ; {
		left := func() time.Duration { return last + limit - b.clock.Elapsed() }
		if pause(ctx, min(every, left(), b.beforeEnd(ends))) != nil {
			return nil //nolint:nilerr // ctx has ended
		}
		if left() <= 0 {
			return fmt.Errorf("%w for %s: %w", ErrRenewFailed, (b.clock.Elapsed() - last).Round(time.Millisecond), err)
		}
		begin := b.clock.Elapsed()
		var now []Grant
		now, err = b.renewAll(ctx, grants, min(every, left(), b.beforeEnd(ends)), renewed)
		switch {
		case err == nil:
			last, ends = begin, termEnd(now)
		case ctx.Err() != nil:
			return nil //nolint:nilerr // the holder ends; that the renewal was cancelled is no error
		case IsLost(err):
			return err
		case !ends.IsZero() && !b.clock.Now().Before(ends):
			return fmt.Errorf("%w since %s: %w", lease.ErrTermOver, ends.UTC().Format(time.RFC3339), err)
		}
	}
}

// claiming notes the begin of the first attempt to claim a lease: the attempt may succeed although
// its answer is lost. The clock's time of day may be set and is not used.
func (b *Broker) claiming(name string, token int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if key := fmt.Sprint(name, "/", token); b.claimed[key] == nil {
		now := b.clock.Elapsed()
		b.claimed[key] = &now
	}
}

// firstClaim returns the begin of the first claim of the grants, and forgets them all.
func (b *Broker) firstClaim(grants []Grant) time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	first := b.clock.Elapsed()
	for _, g := range grants {
		key := fmt.Sprint(g.Reservation, "/", g.Token)
		if at := b.claimed[key]; at != nil {
			first = min(first, *at)
			delete(b.claimed, key)
		}
	}
	return first
}

// termEnd returns the earliest end of a term; zero: none ends.
func termEnd(grants []Grant) (ends time.Time) {
	for _, g := range grants {
		if t := g.TermEndsAt; t != nil && (ends.IsZero() || t.Time.Before(ends)) {
			ends = t.Time
		}
	}
	return ends
}

// beforeEnd returns the time until the check before the end of a term, or, from then on, until
// that end. After the end, one request may still find it extended.
func (b *Broker) beforeEnd(ends time.Time) time.Duration {
	left := ends.Sub(b.clock.Now())
	switch {
	case ends.IsZero():
		return math.MaxInt64
	case left > termCheck:
		return left - termCheck
	case left > 0:
		return left
	default:
		return termCheck
	}
}

// renewAll renews the grants and returns them as they are then.
func (b *Broker) renewAll(ctx context.Context, grants []Grant, within time.Duration, renewed func(Grant)) ([]Grant, error) {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	var out []Grant
	for _, g := range grants {
		l, err := b.lease(ctx, "renew", g.Reservation, func(r *lease.Record, now time.Time) (lease.Lease, error) {
			if r.CurrentState() == lease.Cleaning {
				return r.RenewClean(g.Token, now)
			}
			return r.Renew(g.Token, now)
		})
		if err != nil {
			return nil, err
		}
		out = append(out, Grant{Reservation: g.Reservation, Lease: l})
		if renewed != nil {
			renewed(out[len(out)-1])
		}
	}
	return out, nil
}

// IsLost reports whether a lease is lost for good.
func IsLost(err error) bool {
	var stale *lease.StaleError
	var notHolder *lease.NotHolderError
	return errors.As(err, &stale) || errors.As(err, &notHolder) || errors.Is(err, lease.ErrTermOver)
}
