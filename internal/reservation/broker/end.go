package broker

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/firstlight/firstlight/internal/poll"
)

const (
	// releaseTimeout and cancelTimeout bound the requests for one reservation.
	releaseTimeout = 30 * time.Second
	cancelTimeout  = 10 * time.Second
	// maxAtEnd is the number of items at the same time.
	maxAtEnd = 16
)

// ReleaseAll releases each lease, also after ctx has ended, and returns every error.
func (b *Broker) ReleaseAll(ctx context.Context, grants []Grant, reason string) error {
	return atEnd(ctx, releaseTimeout, grants, func(ctx context.Context, g Grant) error {
		return b.Release(ctx, g.Reservation, g.Token, reason)
	})
}

// QuarantineAll ends each lease, also after ctx has ended: its reservation may be in use, and an
// operator must check it. It returns every error.
func (b *Broker) QuarantineAll(ctx context.Context, grants []Grant, reason string) error {
	return atEnd(ctx, releaseTimeout, grants, func(ctx context.Context, g Grant) error {
		return b.Quarantine(ctx, g.Reservation, g.Token, reason)
	})
}

// atEnd calls do for each item, also after ctx has ended, and joins the errors in the order of the
// items. Each has its own time, so that one without an answer does not delay the others. Within that time, do is called
// again while the store cannot be reached, for instance while an API server restarts.
func atEnd[T any](ctx context.Context, within time.Duration, items []T, do func(context.Context, T) error) error {
	ctx = context.WithoutCancel(ctx)
	errs := make([]error, len(items))
	var requests errgroup.Group
	requests.SetLimit(maxAtEnd)
	for i, item := range items {
		requests.Go(func() error {
			ctx, cancel := context.WithTimeout(ctx, within)
			defer cancel()
			for {
				errs[i] = do(ctx, item)
				if !IsTransient(errs[i]) {
					return nil
				}
				if poll.Sleep(ctx, rand.N(transientBackoff)) != nil { //nolint:gosec // spreads attempts
					errs[i] = withCause(ctx, errs[i])
					return nil
				}
			}
		})
	}
	_ = requests.Wait() // the errors are in errs
	return errors.Join(errs...)
}
