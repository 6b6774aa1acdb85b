package broker

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/firstlight/firstlight/internal/poll"
	"github.com/firstlight/firstlight/internal/proctree"
	"github.com/firstlight/firstlight/internal/reservation/lease"
)

// ErrRenewFailed means that the lease could not be renewed in time; another holder may have it.
var ErrRenewFailed = errors.New("the lease could not be renewed")

var errNotRenewed = errors.New("no renewal was tried since")

const (
	// renewalsPerInterval renewals are made in an interval.
	renewalsPerInterval = 5
	// retryInterval is the pause after a renewal that failed, and the least time for a request.
	retryInterval = time.Second
)

// LostError means that a lease was lost, could not be renewed in time or its term ended while the
// work ran.
type LostError struct {
	Cause error
	// Work is the error of the work; nil: it succeeded, and may have ended the lease itself.
	Work error
}

func (e *LostError) Error() string {
	text := "the lease was lost: " + e.Cause.Error()
	if e.Work != nil {
		text += ": " + e.Work.Error()
	}
	return text
}

// Unwrap returns the cause and the error of the work.
func (e *LostError) Unwrap() []error {
	if e.Work == nil {
		return []error{e.Cause}
	}
	return []error{e.Cause, e.Work}
}

// IgnoreLostIfDone returns nil for a LostError whose work succeeded.
func IgnoreLostIfDone(err error) error {
	if lost, ok := errors.AsType[*LostError](err); ok && lost.Work == nil {
		return nil
	}
	return err
}

// Hold renews leases, of holders and cleaners, while work runs, also after ctx has ended. A LostError
// ends the context of work; the programs that work started have ended before the lease can be given
// to another. Any other error is that of work. renewed, if set, is called with each renewed lease:
// its notice and end may have changed.
func (b *Broker) Hold(ctx context.Context, grants []Grant, renewed func(Grant), work func(ctx context.Context) error) error {
	k := b.newKeeper(grants, renewed)
	working, stop := context.WithCancelCause(proctree.WithDeadline(ctx, k.deadline))
	defer stop(nil)
	keeping, end := context.WithCancel(context.WithoutCancel(ctx))
	lost := make(chan error, 1)
	go func() {
		err := k.keep(keeping)
		stop(err)
		lost <- err
	}()
	err := work(working)
	late := k.isLate() // its programs may have got their SIGTERM before keep saw the time
	end()
	cause := <-lost
	if cause == nil && late {
		cause = k.notRenewed()
	}
	if cause != nil {
		return &LostError{Cause: cause, Work: err}
	}
	return err
}

// keeper renews leases.
type keeper struct {
	*Broker
	grants   []Grant
	renewed  func(Grant)
	interval time.Duration // the shortest one; 0: no renewals
	// last is the begin of the last renewal that succeeded, at first of the claim. The clock's time
	// of day may be set and is not used.
	last time.Duration
	// ends is the earliest end of a term; zero: none ends.
	ends time.Time
	// failed is the error of the last renewal.
	failed error
	// deadline ends programs also if this process is stopped and cannot do it.
	deadline *proctree.Deadline
}

func (b *Broker) newKeeper(grants []Grant, renewed func(Grant)) *keeper {
	k := &keeper{Broker: b, grants: grants, renewed: renewed, last: b.holderTime(), ends: termEnd(grants), failed: errNotRenewed}
	for _, g := range grants {
		if p := g.RenewInterval.Duration; p > 0 && (k.interval == 0 || p < k.interval) {
			k.interval = p
		}
		if g.begun != nil {
			k.last = min(k.last, *g.begun)
		}
	}
	k.deadline = proctree.NewDeadline(lease.StopTime(k.interval))
	k.moveDeadline()
	return k
}

func (k *keeper) moveDeadline() {
	if k.interval > 0 {
		k.deadline.Move(time.Now().Add(k.left()))
	}
}

// isLate reports whether the work had to be stopped by now.
func (k *keeper) isLate() bool {
	left, set := k.deadline.Left()
	return set && left <= 0
}

func (k *keeper) notRenewed() error {
	return fmt.Errorf("%w for %s: %w", ErrRenewFailed, (k.holderTime() - k.last).Round(time.Millisecond), k.failed)
}

// left returns the time until the work must be stopped. A lease can be given to another an interval
// after its last renewal, and after its term when the last renewal is older than the grace period.
func (k *keeper) left() time.Duration {
	since := k.holderTime() - k.last
	left := lease.RenewFor(k.interval) - since
	if !k.ends.IsZero() {
		left = min(left, max(k.ends.Sub(k.clock.Now()), k.opts.Grace-since)-lease.StopTime(k.interval))
	}
	return left
}

// beforeEnd returns the time until the earliest end of a term. At the end, one request may still
// find it extended.
func (k *keeper) beforeEnd() time.Duration {
	if k.ends.IsZero() {
		return math.MaxInt64
	}
	return k.ends.Sub(k.clock.Now())
}

// keep renews until ctx ends, which is not an error, or until the work must be stopped.
func (k *keeper) keep(ctx context.Context) error {
	if k.interval == 0 {
		<-ctx.Done()
		return nil
	}
	every := k.interval / renewalsPerInterval
	least, wait := min(retryInterval, every), every
	for {
		if k.sleep(ctx, min(wait, k.left()/2, k.beforeEnd())) != nil {
			return nil //nolint:nilerr // ctx has ended
		}
		left := k.left()
		if left < least { // no time for a request
			if k.sleep(ctx, left) != nil {
				return nil //nolint:nilerr // ctx has ended
			}
			return k.notRenewed()
		}
		begin := k.holderTime()
		now, err := k.renewAll(ctx, max(least, min(every, left/2)))
		switch {
		case err == nil:
			k.last, k.ends, wait, k.failed = begin, termEnd(now), every, errNotRenewed
			k.moveDeadline()
		case ctx.Err() != nil:
			return nil //nolint:nilerr // the holder ends; that the renewal was cancelled is no error
		case IsLost(err):
			return err
		case k.beforeEnd() <= 0:
			return fmt.Errorf("%w since %s: %w", lease.ErrTermOver, k.ends.UTC().Format(time.RFC3339), err)
		default:
			wait, k.failed = least, err
			if errors.Is(err, context.DeadlineExceeded) {
				k.store.Reconnect() // the connection may be dead
			}
		}
	}
}

// sleep waits for d, of which the time in which the machine is suspended is a part. A step may take
// longer than planned, if this process was stopped or gets no CPU.
func (k *keeper) sleep(ctx context.Context, d time.Duration) error {
	begin, before := time.Now(), k.opts.Suspended()
	for left := d; ; {
		if err := poll.Sleep(ctx, min(left, proctree.MaxSleep)); err != nil {
			return err
		}
		suspended := k.opts.Suspended() - before
		if left = d - time.Since(begin) - suspended; left <= 0 {
			return nil
		}
	}
}

// withTimeout is context.WithTimeout with sleep.
func (k *keeper) withTimeout(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	go func() {
		if k.sleep(ctx, d) == nil {
			cancel(context.DeadlineExceeded)
		}
	}()
	return ctx, func() { cancel(nil) }
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

// renewAll renews the grants, each within the same time, and returns them as they are then. One that
// cannot be renewed does not keep the others from it.
func (k *keeper) renewAll(ctx context.Context, within time.Duration) ([]Grant, error) {
	ctx, cancel := k.withTimeout(ctx, within)
	defer cancel()
	out, errs := make([]Grant, len(k.grants)), make([]error, len(k.grants))
	var requests errgroup.Group
	for i, g := range k.grants {
		requests.Go(func() error {
			out[i], errs[i] = k.renewOne(ctx, g)
			return nil
		})
	}
	_ = requests.Wait() // the errors are in errs
	for i := range out {
		if errs[i] == nil && k.renewed != nil {
			k.renewed(out[i])
		}
	}
	return out, errors.Join(errs...)
}

func (k *keeper) renewOne(ctx context.Context, g Grant) (Grant, error) {
	l, err := k.lease(ctx, "renew", g.Reservation, func(r *lease.Record, now time.Time) (lease.Lease, error) {
		if r.CurrentState() == lease.Cleaning {
			return r.RenewClean(g.Token, now)
		}
		return r.Renew(g.Token, now)
	})
	return Grant{Reservation: g.Reservation, Lease: l}, err
}

// IsLost reports whether a lease is lost for good.
func IsLost(err error) bool {
	var stale *lease.StaleError
	var notHolder *lease.NotHolderError
	return errors.As(err, &stale) || errors.As(err, &notHolder) || errors.Is(err, lease.ErrTermOver)
}
