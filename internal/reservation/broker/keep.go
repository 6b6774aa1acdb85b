package broker

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/firstlight/firstlight/internal/reservation/lease"
)

// ErrRenewFailed means that the lease could not be renewed in time; another holder may have it.
var ErrRenewFailed = errors.New("the lease could not be renewed")

// renewalsPerInterval renewals are made in an interval. After inTimeOf3 thirds of it without one,
// the holder stops, before the lease can be given to another.
const renewalsPerInterval, inTimeOf3 = 5, 2

// KeepAlive renews leases, of holders and cleaners, until ctx ends, which is not an error, or
// until one is lost. renewed, if set, is called with each renewed lease: its notice and end may have
// changed.
func (b *Broker) KeepAlive(ctx context.Context, grants []Grant, heard func(Grant)) error {
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
	last := b.clock.Elapsed()
	for {
		if pause(ctx, period/renewalsPerInterval) != nil {
			return nil //nolint:nilerr // ctx has ended
		}
		begin := b.clock.Elapsed()
		err := b.renewAll(ctx, grants, period/renewalsPerInterval, heard)
		switch {
		case err == nil:
			last = begin
		case ctx.Err() != nil:
			return nil //nolint:nilerr // ctx has ended
		case IsLost(err):
			return err
		case b.clock.Elapsed()-last > period*inTimeOf3/3:
			return fmt.Errorf("%w for %s: %w", ErrRenewFailed, (b.clock.Elapsed() - last).Round(time.Millisecond), err)
		}
	}
}

func (b *Broker) renewAll(ctx context.Context, grants []Grant, within time.Duration, heard func(Grant)) error {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	for _, g := range grants {
		l, err := b.lease(ctx, "renew", g.Reservation, func(r *lease.Record, now time.Time) (lease.Lease, error) {
			if r.CurrentState() == lease.Cleaning {
				return r.RenewClean(g.Token, now)
			}
			return r.Renew(g.Token, now)
		})
		if err != nil {
			return err
		}
		if heard != nil {
			heard(Grant{Reservation: g.Reservation, Lease: l})
		}
	}
	return nil
}

// IsLost reports whether a lease is lost for good.
func IsLost(err error) bool {
	var stale *lease.StaleError
	var notHolder *lease.NotHolderError
	return errors.As(err, &stale) || errors.As(err, &notHolder) || errors.Is(err, lease.ErrTermOver)
}
