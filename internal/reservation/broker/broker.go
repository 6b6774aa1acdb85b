package broker

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"sync"
	"time"

	"github.com/firstlight/firstlight/internal/reservation/lease"
	"github.com/firstlight/firstlight/internal/reservation/store"
)

// Store is where reservations are kept. A store.Kube is one, and so is a store.Cached.
type Store interface {
	reader
	GetUncached(ctx context.Context, name string) (*store.Reservation, error)
	List(ctx context.Context) ([]*store.Reservation, error)
	// Save refuses with store.ErrConflict what was made from an old version.
	Save(ctx context.Context, r *store.Reservation) (*store.Reservation, error)
	// Caller is the user that the store takes this process for.
	Caller(ctx context.Context) (string, error)
	// Operates tells whether that user may change a lease of another user.
	Operates(ctx context.Context, name string) (bool, error)
	// Follow is a copy of some reservations, and calls changed when one of them changes,
	// until stop is called. Without a copy the store is asked each time.
	Follow(ctx context.Context, names []string, changed func()) (c *store.Cached, stop func())
}

// copied is what is read: the store, or a copy of it.
type reader interface {
	Get(ctx context.Context, name string) (*store.Reservation, error)
	// Copied tells whether what Get (and List) answer may be old.
	MayBeStale() bool
	// Interrupted grows when a copy could not be kept new. Nobody could be heard of then.
	Interruptions() uint64
}

// Clock is time, twice: of day, for people and tokens; and since some moment, which no
// change of the clock moves.
type Clock interface {
	Now() time.Time
	Elapsed() time.Duration
}

// Options of a Broker.
type Options struct {
	Store Store
	// Clock is nil for the machine's.
	Clock Clock
	// Grace is how long a lease that is not renewed, and whose term is over, is watched
	// before it expires (30 s).
	Grace time.Duration
	// Poll is how often somebody who waits looks at its copy of what it waits for, beside
	// the moments when that changes (1 s).
	Poll time.Duration
	// ID makes the identity of a ticket; nil: random.
	ID func() string
}

// Broker carries out steps. Its methods may be called from many goroutines.
type Broker struct {
	store Store
	clock Clock
	opts  Options

	mu          sync.Mutex
	watched     map[string]watched
	interrupted uint64 // of the store, as far as it is known here
}

// New makes a broker.
func New(opts Options) *Broker {
	if opts.Clock == nil {
		opts.Clock = machineClock{started: time.Now()}
	}
	if opts.Grace == 0 {
		opts.Grace = 30 * time.Second
	}
	if opts.Poll == 0 {
		opts.Poll = time.Second
	}
	if opts.ID == nil {
		opts.ID = newID
	}
	return &Broker{store: opts.Store, clock: opts.Clock, opts: opts, watched: map[string]watched{}}
}

// machineClock counts from its start: a machine whose clock is set does not move it.
type machineClock struct{ started time.Time }

func (c machineClock) Elapsed() time.Duration { return time.Since(c.started) }
func (c machineClock) Now() time.Time         { return c.started.Round(0).Add(c.Elapsed()) }

// step changes a record, at a time. It may be called several times, with other
// versions of the record: it must ask for the same each time.
type step func(r *lease.Record, now time.Time) error

// retryWithin bounds the pause before a change is made again: as long as others
// write, one of them gets through. It doubles with each conflict, doublings times at
// most: where many write, and the API server is slow, most would write in vain.
const (
	conflictBackoff = 20 * time.Millisecond
	doublings       = 4
)

// troubled bounds the pause where the API server did not answer.
const transientBackoff = time.Second

// change makes a step on a record; see changeFrom.
func (b *Broker) change(ctx context.Context, name string, s step) error {
	return b.changeFrom(ctx, b.store, name, s)
}

// changeFrom makes a step on what a copy has.
func (b *Broker) changeFrom(ctx context.Context, from reader, name string, s step) error {
	return b.changeObject(ctx, from, name, func(r *store.Reservation, now time.Time) error { return s(&r.Status.Record, now) })
}

// asked is the store where each read asks the API server.
type uncached struct{ Store }

func (a uncached) Get(ctx context.Context, name string) (*store.Reservation, error) {
	return a.GetUncached(ctx, name) //nolint:wrapcheck // says what it was doing
}
func (a uncached) MayBeStale() bool { return false }

// changeObject makes a step and writes the result. A step that is refused may have
// changed the record, too. What is not written may be told only of what the API server
// has now: a copy may be old, and is made again from there. A step that was made on what
// the API server has now is not read again.
func (b *Broker) changeObject(ctx context.Context, from reader, name string, s func(r *store.Reservation, now time.Time) error) error {
	within := conflictBackoff
	for {
		r, err := from.Get(ctx, name)
		if err != nil {
			b.resetWatch(err)
			return withCause(ctx, err)
		}
		next := *r
		next.Status.Record = *r.Status.Clone()
		refused := s(&next, b.clock.Now())
		same := reflect.DeepEqual(next.Status.Record, r.Status.Record)
		if (same || refused != nil) && from.MayBeStale() {
			from = uncached{b.store}
			continue
		}
		if same {
			return refused
		}
		switch err := b.sign(ctx, r, &next); {
		case err == nil:
		case from.MayBeStale():
			from = uncached{b.store}
			continue
		default:
			b.resetWatch(err)
			return withCause(ctx, err)
		}
		_, err = b.store.Save(ctx, &next)
		if err == nil {
			return refused
		}
		b.resetWatch(err)
		conflict := errors.Is(err, store.ErrConflict)
		if ctx.Err() != nil || !conflict && !IsTransient(err) {
			return withCause(ctx, err)
		}
		// Whether it was written or not: the step is made again on what there is now.
		from = uncached{b.store}
		wait := within
		if within = min(2*within, conflictBackoff<<doublings); !conflict {
			wait = transientBackoff
		}
		if err := pause(ctx, rand.N(wait)); err != nil { //nolint:gosec // spreads attempts, hides nothing
			return fmt.Errorf("change reservation %s: %w", name, err)
		}
	}
}

// ended adds to an error that nobody waits for the answer any more, where that is so:
// it is the reason then, whatever came of the last attempt.
func withCause(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil && !errors.Is(err, cause) {
		return fmt.Errorf("%w: %w", cause, err)
	}
	return err
}

// sign notes in the new lines of history who writes them, and refuses a change to a lease
// that is for its holder, or an operator, to change. The store refuses it as well.
func (b *Broker) sign(ctx context.Context, old, next *store.Reservation) error {
	caller, err := b.store.Caller(ctx)
	if err != nil {
		return err //nolint:wrapcheck // says what it was doing
	}
	next.Status.Sign(old.Status.Events, caller)
	if old.Status.AllowedForAnyUser(&next.Status.Record, caller) {
		return nil
	}
	operates, err := b.store.Operates(ctx, old.Name)
	if err != nil || operates {
		return err //nolint:wrapcheck // says what it was doing
	}
	return &lease.NotHolderError{Holder: old.Status.Lease.Holder, User: old.Status.Lease.User, Caller: caller}
}

func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
