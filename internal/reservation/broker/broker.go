package broker

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"sync"
	"time"

	"github.com/firstlight/firstlight/internal/poll"
	"github.com/firstlight/firstlight/internal/proctree"
	"github.com/firstlight/firstlight/internal/reservation/lease"
	"github.com/firstlight/firstlight/internal/reservation/store"
)

// Store persists reservations. store.Kube and store.Cached implement it.
type Store interface {
	reader
	GetUncached(ctx context.Context, name string) (*store.Reservation, error)
	List(ctx context.Context) ([]*store.Reservation, error)
	// Save returns store.ErrConflict if r is not based on the current version.
	Save(ctx context.Context, r *store.Reservation) (*store.Reservation, error)
	// History returns the events of a reservation since a time, oldest first.
	History(ctx context.Context, name string, since time.Time) ([]lease.Event, error)
	// Caller returns the authenticated user of this process.
	Caller(ctx context.Context) (string, error)
	// Operates reports whether that user may change the lease of another user.
	Operates(ctx context.Context, name string) (bool, error)
	// Follow returns a watched copy of some reservations and calls changed after each change to
	// one of them, until stop is called. A nil copy means that each read goes to the store.
	Follow(ctx context.Context, names []string, changed func()) (c *store.Cached, stop func())
	// Reconnect closes all connections to the store.
	Reconnect()
}

// reader reads from the store or from a copy of it.
type reader interface {
	Get(ctx context.Context, name string) (*store.Reservation, error)
	// MayBeStale reports whether Get and List may return an old version.
	MayBeStale() bool
	// Interruptions counts interruptions of the copy. Heartbeats during one may have been missed.
	Interruptions() uint64
}

// Clock has the time of day, for people and tokens, and a monotonic time, which does not follow
// changes of the clock.
type Clock interface {
	Now() time.Time
	Elapsed() time.Duration
}

// Options of a Broker.
type Options struct {
	Store Store
	// Clock defaults to the system clock.
	Clock Clock
	// Grace is how long a lease without renewals is observed after its term before it expires
	// (default 30 s).
	Grace time.Duration
	// Poll is how often a waiter reads its copy when no change arrives (default 1 s).
	Poll time.Duration
	// ID makes ticket IDs; nil: random.
	ID func() string
	// Suspended is for how long the machine was suspended since its start (default proctree.Suspended).
	Suspended func() time.Duration
}

// Broker runs the steps of leases on a store. Its methods are safe for concurrent use.
type Broker struct {
	store Store
	clock Clock
	opts  Options

	mu          sync.Mutex
	watched     map[string]watched
	interrupted uint64 // interruptions of the store, as last seen

	written written
}

// New returns a broker.
func New(opts Options) *Broker {
	if opts.Clock == nil {
		opts.Clock = machineClock{started: time.Now()}
	}
	opts.Grace = cmp.Or(opts.Grace, 30*time.Second)
	opts.Poll = cmp.Or(opts.Poll, time.Second)
	if opts.ID == nil {
		opts.ID = newID
	}
	if opts.Suspended == nil {
		opts.Suspended = proctree.Suspended
	}
	return &Broker{store: opts.Store, clock: opts.Clock, opts: opts, watched: map[string]watched{}}
}

// holderTime is the clock of a holder. Unlike Elapsed it counts while the machine is suspended, since
// the lease may then be given to another. A broker that ends leases must not count that time: the holder
// may have been suspended with it.
func (b *Broker) holderTime() time.Duration { return b.clock.Elapsed() + b.opts.Suspended() }

// machineClock is monotonic from its start and ignores later changes of the system clock.
type machineClock struct{ started time.Time }

func (c machineClock) Elapsed() time.Duration { return time.Since(c.started) }
func (c machineClock) Now() time.Time         { return c.started.Round(0).Add(c.Elapsed()) }

// step changes a record at a time. It may be called several times with different versions of the
// record and must request the same each time.
type step func(r *lease.Record, now time.Time) error

// conflictBackoff bounds the pause before a change is retried; it doubles with each conflict, at
// most doublings times. With many writers and a slow API server most writes would otherwise
// conflict.
const (
	conflictBackoff = 20 * time.Millisecond
	doublings       = 4
)

// transientBackoff bounds the pause after a transient error.
const transientBackoff = time.Second

// readAgain is how long reads are repeated after a lost answer: an API server that restarts refuses them meanwhile.
const readAgain = releaseTimeout

// change runs a step on a record in the store; see attempt.
func (b *Broker) change(ctx context.Context, name string, s step) error {
	return b.changeFrom(ctx, b.store, name, s)
}

// changeFrom runs a step on a record as read from a reader.
func (b *Broker) changeFrom(ctx context.Context, from reader, name string, s step) error {
	return b.attempt(ctx, from, name, false, func(r *store.Reservation, now time.Time) error { return s(&r.Status.Record, now) })
}

// uncached is a store whose every read goes to the API server.
type uncached struct{ Store }

func (a uncached) Get(ctx context.Context, name string) (*store.Reservation, error) {
	return a.GetUncached(ctx, name)
}
func (a uncached) MayBeStale() bool { return false }

// read returns the record for a step. If it may be stale, it is a copy, or the version that this
// broker wrote last.
func (b *Broker) read(ctx context.Context, from reader, name string) (r *store.Reservation, stale bool, err error) {
	if _, isUncached := from.(uncached); !isUncached && !from.MayBeStale() {
		if r := b.written.get(name); r != nil {
			return r, true, nil
		}
	}
	r, err = from.Get(ctx, name)
	return r, from.MayBeStale(), err
}

// attempt runs a step and writes the result; a refused step may also have changed the record.
// A refusal, or a step without effect, counts only on the current version: if the record may be
// stale, the step is repeated on an uncached read. A step that ran on an uncached read is not read
// again.
//
// If the answer to a write was lost, a step that runs once is not repeated if the write has succeeded, whatever others
// did since: also the reads that find this out are repeated, for readAgain. Other steps, those that grant, are
// repeated: a grant is good only while it lasts.
func (b *Broker) attempt(ctx context.Context, from reader, name string, once bool, s func(r *store.Reservation, now time.Time) error) error {
	within := conflictBackoff
	var lost []*unanswered // each may be written late, before or after the next
	var readUntil time.Time
	defer b.requestCaller(ctx)()
	for {
		r, stale, err := b.read(ctx, from, name)
		var written *unanswered
		if err == nil {
			written, err = findWritten(ctx, b.store, r, lost)
		}
		if err != nil {
			b.noteError(err)
			if IsTransient(err) && time.Now().Before(readUntil) && poll.Sleep(ctx, rand.N(transientBackoff)) == nil { //nolint:gosec // spreads attempts
				continue
			}
			return withCause(ctx, err)
		}
		if written != nil {
			return written.refused
		}
		next := *r
		next.Status.Record = *r.Status.Record.DeepCopy()
		refused := s(&next, b.clock.Now())
		same := reflect.DeepEqual(next.Status.Record, r.Status.Record)
		if (same || refused != nil) && stale {
			from = uncached{b.store}
			continue
		}
		if same {
			return refused
		}
		switch err := b.sign(ctx, r, &next); {
		case err == nil:
		case stale:
			from = uncached{b.store}
			continue
		default:
			b.noteError(err)
			return withCause(ctx, err)
		}
		begin := time.Now()
		saved, err := b.store.Save(ctx, &next)
		if err == nil {
			if !b.store.MayBeStale() { // a copy knows its own writes
				b.written.put(saved, begin)
			}
			return refused
		}
		b.noteError(err)
		conflict := errors.Is(err, store.ErrConflict)
		if ctx.Err() != nil || !conflict && !IsTransient(err) {
			return withCause(ctx, err)
		}
		// The write may have succeeded: run the step again on the current version.
		from = uncached{b.store}
		if once && !conflict {
			lost = append(lost, newUnanswered(&r.Status.Record, &next.Status.Record, refused))
			readUntil = time.Now().Add(readAgain)
		}
		if conflict && stale {
			continue // not a sign of many writers
		}
		wait := within
		if within = min(2*within, conflictBackoff<<doublings); !conflict {
			wait = transientBackoff
		}
		if err := poll.Sleep(ctx, rand.N(wait)); err != nil { //nolint:gosec // spreads attempts
			return fmt.Errorf("change reservation %s: %w", name, err)
		}
	}
}

// noteError draws the conclusions from a failed request of a step.
func (b *Broker) noteError(err error) {
	b.written.forget()
	b.resetWatch(err)
}

// requestCaller requests the user, which sign needs, in parallel with the first read. The returned
// function ends the request.
func (b *Broker) requestCaller(ctx context.Context) (end func()) {
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_, _ = b.store.Caller(ctx) // sign gets the error
	}()
	return func() { cancel(); <-ended }
}

// withCause adds the cause of a context that has ended, which is the real reason of the failure.
func withCause(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil && !errors.Is(err, cause) {
		return fmt.Errorf("%w: %w", cause, err)
	}
	return err
}

// sign sets the user of new events and refuses a change that only the holder or an operator may
// make. The store refuses it as well.
func (b *Broker) sign(ctx context.Context, old, next *store.Reservation) error {
	caller, err := b.store.Caller(ctx)
	if err != nil {
		return err
	}
	next.Status.Sign(old.Status.Events, caller)
	if old.Status.AllowedForAnyUser(&next.Status.Record, caller) {
		return nil
	}
	operates, err := b.store.Operates(ctx, old.Name)
	if err != nil || operates {
		return err
	}
	return &lease.NotHolderError{Holder: old.Status.Lease.Holder, User: old.Status.Lease.User, Caller: caller}
}
