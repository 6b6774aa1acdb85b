package broker

import (
	"context"
	"errors"
	"io"
	"sync"
	"testing"
	"time"

	"github.com/firstlight/firstlight/internal/poll/polltest"
	"github.com/firstlight/firstlight/internal/reservation/lease"
	"github.com/firstlight/firstlight/internal/reservation/store"
)

// hands is a clock that a test sets: the time of day and what has elapsed.
type hands struct {
	mu      sync.Mutex
	now     time.Time
	elapsed time.Duration
}

func (h *hands) Now() time.Time         { h.mu.Lock(); defer h.mu.Unlock(); return h.now }
func (h *hands) Elapsed() time.Duration { h.mu.Lock(); defer h.mu.Unlock(); return h.elapsed }

// pass lets time pass.
func (h *hands) pass(d time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.now, h.elapsed = h.now.Add(d), h.elapsed+d
}

// set moves the time of day alone.
func (h *hands) set(d time.Duration) { h.mu.Lock(); defer h.mu.Unlock(); h.now = h.now.Add(d) }

// faulty is a store that does something before it answers.
type faulty struct {
	Store
	get  func(name string) (*store.Reservation, error)
	save func(r *store.Reservation) error // an error after it was, or was not, written
}

func (f *faulty) Get(ctx context.Context, name string) (*store.Reservation, error) {
	if f.get != nil {
		if r, err := f.get(name); r != nil || err != nil {
			return r, err
		}
	}
	return f.Store.Get(ctx, name)
}

// Copied is true where a test says what is read: it may be old.
func (f *faulty) MayBeStale() bool { return f.get != nil || f.Store.MayBeStale() }

// Follow has no copy where a test says what is read.
func (f *faulty) Follow(ctx context.Context, names []string, changed func()) (*store.Cached, func()) {
	if f.get != nil {
		return nil, func() {}
	}
	return f.Store.Follow(ctx, names, changed)
}

func (f *faulty) Save(ctx context.Context, r *store.Reservation) (*store.Reservation, error) {
	if f.save != nil {
		if err := f.save(r); err != nil {
			return nil, err
		}
	}
	return f.Store.Save(ctx, r)
}

// watch is a broker whose time a test makes, and one reservation.
type watch struct {
	*Broker
	t     *testing.T
	clock *hands
	kube  *store.Kube
	store *faulty
	name  string
}

func newWatch(t *testing.T, spec store.Spec) *watch {
	t.Helper()
	k := shared.Kube(t)
	w := &watch{t: t, clock: &hands{now: time.Now()}, kube: k, store: &faulty{Store: k}, name: reservations(t, k, spec, "tick")[0]}
	w.Broker = w.another()
	return w
}

func (w *watch) another() *Broker {
	return New(Options{Store: w.store, Clock: w.clock, Grace: 30 * time.Second})
}

// do runs a step of another broker.
func (w *watch) do(f func(r *lease.Record) error) {
	w.t.Helper()
	err := w.change(w.t.Context(), w.name, func(r *lease.Record, _ time.Time) error { return f(r) })
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *watch) queue(holders ...string) {
	w.t.Helper()
	for _, holder := range holders {
		tk := who(holder)
		tk.ID = holder
		w.do(func(r *lease.Record) error { r.Enqueue(tk, w.clock.Now()); return nil })
	}
}

func (w *watch) hold(holder string) int64 {
	w.t.Helper()
	w.queue(holder)
	var token int64
	w.do(func(r *lease.Record) error {
		l, err := r.Claim(holder, w.clock.Now())
		token = l.Token
		return err
	})
	return token
}

// after lets time pass and ends what is over then.
func (w *watch) after(d time.Duration) *lease.Record {
	w.t.Helper()
	w.clock.pass(d)
	return w.tick(w.Broker)
}

func (w *watch) tick(b *Broker) *lease.Record {
	w.t.Helper()
	if err := b.ExpireOverdue(w.t.Context(), w.name); err != nil {
		w.t.Fatal(err)
	}
	return w.is()
}

func (w *watch) is() *lease.Record {
	w.t.Helper()
	r, err := w.kube.Get(w.t.Context(), w.name)
	if err != nil {
		w.t.Fatal(err)
	}
	return &r.Status.Record
}

func (w *watch) want(r *lease.Record, state lease.State, holder string) {
	w.t.Helper()
	if r.Lease == nil && holder != "" || r.Lease != nil && r.Lease.Holder != holder || r.CurrentState() != state {
		w.t.Errorf("it is %s with %+v, want %s with %q", r.CurrentState(), r.Lease, state, holder)
	}
}

func last(r *lease.Record) lease.EventType { return r.Recent[len(r.Recent)-1].Type }

const minute = time.Minute // the period of who

func TestSilentHolderIsExpiredAndDirty(t *testing.T) {
	w := newWatch(t, store.Spec{NeedsNoCleaning: true})
	token := w.hold("ada")
	w.want(w.after(0), lease.Leased, "ada")
	w.want(w.after(minute-time.Second), lease.Leased, "ada")
	if _, err := w.Renew(t.Context(), w.name, token); err != nil {
		t.Fatal(err)
	}
	w.want(w.after(2*time.Second), lease.Leased, "ada") // a minute after the claim, and heard of
	w.want(w.after(minute-time.Second), lease.Leased, "ada")
	r := w.after(time.Second)
	w.want(r, lease.Dirty, "")
	if last(r) != lease.Expired || r.DirtyInfo.Holder != "ada" || r.DirtyInfo.Token != token {
		t.Errorf("%s: %+v", last(r), r.DirtyInfo)
	}
	var stale *lease.StaleError
	if _, err := w.Renew(t.Context(), w.name, token); !errors.As(err, &stale) {
		t.Errorf("renewed for all that: %v", err)
	}
}

func TestSilentWaiterIsLost(t *testing.T) {
	w := newWatch(t, store.Spec{})
	token := w.hold("ada")
	w.queue("bob", "cyd")
	w.after(0)
	w.clock.pass(minute - time.Second)
	w.do(func(r *lease.Record) error { return r.Heartbeat("cyd") })
	if _, err := w.Renew(t.Context(), w.name, token); err != nil {
		t.Fatal(err)
	}
	if r := w.after(0); len(r.Queue) != 2 {
		t.Errorf("too soon: %+v", r.Queue)
	}
	r := w.after(time.Second)
	w.want(r, lease.Leased, "ada")
	if len(r.Queue) != 1 || r.Queue[0].Holder != "cyd" || last(r) != lease.WaitTimedOut || r.Recent[len(r.Recent)-1].Actor != "bob" {
		t.Errorf("%+v after %+v", r.Queue, r.Recent[len(r.Recent)-1])
	}
}

func TestWhatIsNotClaimedGoesToTheNext(t *testing.T) {
	w := newWatch(t, store.Spec{})
	w.queue("bob", "cyd")
	w.after(0)
	w.clock.pass(minute / 2)
	w.do(func(r *lease.Record) error { return r.Heartbeat("cyd") })
	w.want(w.after(0), lease.Leased, "bob")
	r := w.after(minute / 2)
	w.want(r, lease.Leased, "cyd")
	if !r.Lease.Offered() || r.Recent[len(r.Recent)-2].Type != lease.WaitTimedOut {
		t.Errorf("%+v", r.Recent)
	}
}

func TestSilentCleanerLeavesItDirty(t *testing.T) {
	w := newWatch(t, store.Spec{})
	if err := w.Release(t.Context(), w.name, w.hold("ada"), "done"); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Clean(t.Context(), w.name, who("janitor")); err != nil {
		t.Fatal(err)
	}
	w.want(w.after(0), lease.Cleaning, "janitor")
	w.want(w.after(minute-time.Second), lease.Cleaning, "janitor")
	r := w.after(time.Second)
	w.want(r, lease.Dirty, "")
	if r.DirtyInfo.Holder != "ada" || r.DirtyInfo.Attempts != 1 {
		t.Errorf("%+v", r.DirtyInfo)
	}
}

// A clock that is set ends nothing, whichever way.
func TestClockThatIsSetEndsNothing(t *testing.T) {
	w := newWatch(t, store.Spec{})
	token := w.hold("ada")
	w.queue("bob")
	w.after(0)
	for _, d := range []time.Duration{10 * time.Hour, -20 * time.Hour, 400 * 24 * time.Hour} {
		w.clock.set(d)
		r := w.after(time.Second)
		w.want(r, lease.Leased, "ada")
		if len(r.Queue) != 1 {
			t.Errorf("after %s: %+v", d, r.Queue)
		}
		if _, err := w.Renew(t.Context(), w.name, token); err != nil {
			t.Errorf("after %s: %v", d, err)
		}
	}
}

// Each broker has to have watched for the whole period itself.
func TestNewBrokerGivesAFullPeriod(t *testing.T) {
	w := newWatch(t, store.Spec{})
	w.hold("ada")
	w.after(0)
	w.clock.pass(minute - time.Second)
	other := w.another()
	w.want(w.tick(other), lease.Leased, "ada")
	w.clock.pass(minute - time.Second)
	w.want(w.tick(other), lease.Leased, "ada")
	w.clock.pass(time.Second)
	w.want(w.tick(other), lease.Dirty, "")
}

// A term ends after a grace period without an extension.
func TestTermIsOver(t *testing.T) {
	w := newWatch(t, store.Spec{})
	tk := lease.Ticket{ID: "ada", Holder: "ada", Term: lease.Duration(time.Hour), MaxTerm: lease.Duration(3 * time.Hour)}
	w.do(func(r *lease.Record) error {
		r.Enqueue(tk, w.clock.Now())
		_, err := r.Claim("ada", w.clock.Now())
		return err
	})
	w.want(w.after(0), lease.Leased, "ada")
	w.want(w.after(time.Hour-time.Second), lease.Leased, "ada")
	token := w.is().Lease.Token
	if _, err := w.Extend(t.Context(), w.name, token, time.Hour, "not done"); err != nil {
		t.Fatal(err)
	}
	w.want(w.after(2*time.Second), lease.Leased, "ada")
	other := w.another() // which sees it when it is nearly over
	w.clock.pass(time.Hour)
	w.want(w.tick(other), lease.Leased, "ada")
	if _, err := w.Renew(t.Context(), w.name, token); !errors.Is(err, lease.ErrTermOver) {
		t.Errorf("renewed after its end: %v", err)
	}
	w.clock.pass(29 * time.Second)
	w.want(w.tick(other), lease.Leased, "ada")
	w.clock.pass(time.Second)
	w.want(w.tick(other), lease.Dirty, "")
}

// While the store is unreachable heartbeats are missed: every lease gets a full interval
// afterwards.
func TestStoreThatWasAwayIsNotSilence(t *testing.T) {
	for name, away := range map[string]func(w *watch){
		"nothing can be read": func(w *watch) {
			w.store.get = func(string) (*store.Reservation, error) { return nil, io.ErrUnexpectedEOF }
		},
		"nothing can be written": func(w *watch) {
			w.store.save = func(*store.Reservation) error { w.store.save = nil; return io.ErrUnexpectedEOF }
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWatch(t, store.Spec{})
			w.hold("ada")
			w.queue("bob")
			w.after(0)
			away(w)
			w.clock.pass(2 * minute)
			_ = w.ExpireOverdue(t.Context(), w.name) // its error tells
			w.store.get, w.store.save = nil, nil
			r := w.after(0)
			w.want(r, lease.Leased, "ada")
			if len(r.Queue) != 1 {
				t.Errorf("dropped: %+v", r.Recent)
			}
			w.want(w.after(minute-time.Second), lease.Leased, "ada")
			w.want(w.after(time.Second), lease.Dirty, "")
		})
	}
}

// An answer without a write is based on the current version, not on a copy.
func TestOldCopyIsNotBelieved(t *testing.T) {
	w := newWatch(t, store.Spec{})
	old := func() *store.Reservation {
		r, err := w.kube.Get(t.Context(), w.name)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	w.queue("ada")
	offered := old()
	w.do(func(r *lease.Record) error { return r.Cancel("ada", "bored", w.clock.Now()) })
	w.store.get = func(string) (*store.Reservation, error) { return offered, nil }
	if err := w.QuarantineFree(t.Context(), w.name, "cyd", "in use"); err != nil {
		t.Fatal(err)
	}
	w.want(w.is(), lease.Dirty, "")

	w.store.get = nil
	dirty := old()
	w.queue("bob")
	w.store.get = func(string) (*store.Reservation, error) { return dirty, nil }
	if err := w.cancelTickets(t.Context(), []string{w.name}, "bob", "bored"); err != nil {
		t.Fatal(err)
	}
	if r := w.is(); len(r.Queue) != 0 {
		t.Errorf("bob has left, and still waits: %+v", r.Queue)
	}
}

// A request whose client stops waiting leaves no lease.
func TestAcquireThatIsCutOffHoldsNothing(t *testing.T) {
	w := newWatch(t, store.Spec{})
	ctx, cancel := context.WithCancel(t.Context())
	w.store.save = func(r *store.Reservation) error {
		w.store.save = nil
		if _, err := w.kube.Save(t.Context(), r); err != nil {
			t.Error(err)
		}
		cancel()
		return context.Canceled
	}
	if _, err := w.Acquire(ctx, Request{Reservations: []string{w.name}, Ticket: who("ada")}); !errors.Is(err, context.Canceled) {
		t.Errorf("acquired: %v", err)
	}
	r := w.is()
	w.want(r, lease.Free, "")
	if last(r) != lease.Released || len(r.Queue) != 0 {
		t.Errorf("%+v", r)
	}
}

// A waiter survives an unreachable store.
func TestWaiterOutlastsAnOutage(t *testing.T) {
	w := newWatch(t, store.Spec{NeedsNoCleaning: true})
	token := w.hold("ada")
	var mu sync.Mutex
	looks := 0
	w.store.get = func(string) (*store.Reservation, error) {
		mu.Lock()
		defer mu.Unlock()
		if looks++; looks > 4 && looks < 9 {
			return nil, io.ErrUnexpectedEOF
		}
		return nil, nil
	}
	b := New(Options{Store: w.store, Poll: time.Millisecond})
	got := make(chan error, 1)
	go func() {
		_, err := b.Acquire(t.Context(), Request{Reservations: []string{w.name}, Ticket: who("bob"), Wait: true})
		got <- err
	}()
	polltest.Until(t, "the outage to be over", func() bool { mu.Lock(); defer mu.Unlock(); return looks > 12 })
	if err := New(Options{Store: w.kube}).Release(t.Context(), w.name, token, "done"); err != nil {
		t.Fatal(err)
	}
	if err := <-got; err != nil {
		t.Error(err)
	}
	w.want(w.is(), lease.Leased, "bob")
}

// The error of a change whose client stopped waiting has that cause.
func TestConflictWhenNobodyWaitsAnyMore(t *testing.T) {
	w := newWatch(t, store.Spec{})
	ctx, cancel := context.WithCancel(t.Context())
	w.store.save = func(*store.Reservation) error { cancel(); return store.ErrConflict }
	if err := w.QuarantineFree(ctx, w.name, "cyd", "in use"); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}
