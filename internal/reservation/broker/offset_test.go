package broker

import (
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/firstlight/firstlight/internal/reservation/lease"
	"github.com/firstlight/firstlight/internal/reservation/store"
)

// offset is a store whose API server has another time.
type offset struct {
	Store
	by atomic.Int64
}

func (o *offset) ClockOffset() time.Duration { return time.Duration(o.by.Load()) }

// A controller whose clock is set a day ahead for a minute ends no term of a day, and one whose clock is right does.
func TestWrongClockEndsNoTerm(t *testing.T) {
	w := newWatch(t, store.Spec{})
	tk := lease.Ticket{ID: "ada", Holder: "ada", Term: lease.Duration(time.Hour)}
	w.do(func(r *lease.Record) error {
		r.Enqueue(tk, w.clock.Now())
		_, err := r.Claim("ada", w.clock.Now())
		return err
	})
	o := &offset{Store: w.store}
	b := New(Options{Store: o, Clock: w.clock, Grace: 30 * time.Second})
	w.want(w.tick(b), lease.Leased, "ada")
	w.clock.pass(time.Minute)
	w.clock.set(24 * time.Hour)
	o.by.Store(int64(-24 * time.Hour))
	w.want(w.tick(b), lease.Leased, "ada")
	var wrong *ClockError
	if err := b.ExpireOverdue(t.Context()); !errors.As(err, &wrong) || !strings.Contains(err.Error(), "24h0m0s ahead of that of the API server") {
		t.Errorf("got %v", err)
	}
	w.clock.set(-24 * time.Hour)
	o.by.Store(int64(4 * time.Minute)) // small enough
	w.clock.pass(time.Hour)
	w.want(w.tick(b), lease.Dirty, "")
}

// A lease that is not renewed is ended by the monotonic clock, whatever the time of day.
func TestWrongClockEndsALeaseThatIsNotRenewed(t *testing.T) {
	w := newWatch(t, store.Spec{})
	w.hold("ada")
	o := &offset{Store: w.store}
	o.by.Store(int64(5 * time.Hour))
	b := New(Options{Store: o, Clock: w.clock})
	w.want(w.tick(b), lease.Leased, "ada")
	w.clock.pass(minute)
	w.want(w.tick(b), lease.Dirty, "")
}

// The end of a term differs between machines.
func TestWrongClockGetsNoLease(t *testing.T) {
	for name, req := range map[string]Request{"at once": {}, "waiting": {Wait: true}} {
		t.Run(name, func(t *testing.T) {
			w := newWatch(t, store.Spec{})
			o := &offset{Store: w.store}
			o.by.Store(int64(5 * time.Hour))
			b := New(Options{Store: o, Clock: w.clock})
			req.Reservations, req.Ticket = []string{w.name}, lease.Ticket{Holder: "ada", Term: lease.Duration(4 * time.Hour)}
			_, err := b.Acquire(t.Context(), req)
			var wrong *ClockError
			if !errors.As(err, &wrong) || !strings.Contains(err.Error(), "5h0m0s behind") {
				t.Fatalf("got %v", err)
			}
			if r := w.is(); r.CurrentState() != lease.Free || len(r.Queue) > 0 {
				t.Errorf("it is %s, %+v", r.CurrentState(), r.Queue)
			}
			g, err := New(Options{Store: w.store, Clock: w.clock}).Acquire(t.Context(), req)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := b.Publish(t.Context(), w.name, g[0].Token, w.clock.Now().Add(time.Hour), w.clock.Now().Add(time.Hour), "ready"); !errors.As(err, &wrong) {
				t.Errorf("published: %v", err)
			}
		})
	}
}

// The clock is set while a ticket waits: it claims nothing.
func TestClockThatBecomesWrongClaimsNothing(t *testing.T) {
	w := newWatch(t, store.Spec{})
	o := &offset{Store: w.store}
	waits := waiter{Broker: New(Options{Store: o, Clock: w.clock}), reader: o, names: []string{w.name}, ticket: lease.Ticket{ID: "ada"}, begun: map[string]claims{}}
	w.do(func(r *lease.Record) error {
		r.Enqueue(lease.Ticket{ID: "ada", Holder: "ada"}, w.clock.Now())
		return nil
	})
	o.by.Store(int64(5 * time.Hour))
	var wrong *ClockError
	if got, err := waits.claim(t.Context()); !errors.As(err, &wrong) {
		t.Errorf("claimed %v, %v", got, err)
	}
	o.by.Store(0)
	if got, err := waits.claim(t.Context()); err != nil || len(got) != 1 {
		t.Errorf("claimed %v, %v", got, err)
	}
}
