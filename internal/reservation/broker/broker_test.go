package broker

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/firstlight/firstlight/internal/poll/polltest"
	"github.com/firstlight/firstlight/internal/reservation/lease"
	"github.com/firstlight/firstlight/internal/reservation/store"
)

// stores are both ways to reach one: each read asks, and a copy.
func stores(t *testing.T, f func(t *testing.T, k *store.Kube, s Store)) {
	k := shared.Kube(t)
	t.Run("asked", func(t *testing.T) { f(t, k, k) })
	t.Run("copied", func(t *testing.T) { f(t, k, cached(t, k)) })
}

func TestAcquireRenewRelease(t *testing.T) {
	stores(t, func(t *testing.T, k *store.Kube, s Store) {
		b := New(Options{Store: s})
		name := reservations(t, k, store.Spec{}, "one")[0]
		got, err := b.Acquire(t.Context(), Request{Reservations: []string{name}, Ticket: who("ada")})
		if err != nil {
			t.Fatal(err)
		}
		token := got[0].Token
		var busy *BusyError
		if _, err := b.Acquire(t.Context(), Request{Reservations: []string{name}, Ticket: who("bob")}); !errors.As(err, &busy) || busy.Holder != "ada" {
			t.Fatalf("a second holder: %v", err)
		}
		if l, err := b.Renew(t.Context(), name, token); err != nil || !l.ExpiresAt.After(got[0].ExpiresAt.Time) {
			t.Errorf("renew: %v, until %v then %v", err, got[0].ExpiresAt, l.ExpiresAt)
		}
		var stale *lease.StaleError
		if _, err := b.Renew(t.Context(), name, token-1); !errors.As(err, &stale) || stale.Highest != token {
			t.Errorf("an old token renews: %v", err)
		}
		for range 2 { // a request that is sent twice
			if err := b.Release(t.Context(), name, token, "done"); err != nil {
				t.Errorf("release: %v", err)
			}
		}
		if _, err := b.Acquire(t.Context(), Request{Reservations: []string{name}, Ticket: who("bob")}); !errors.As(err, &busy) || busy.State != lease.Dirty {
			t.Errorf("a dirty reservation was granted: %v", err)
		}
		c, err := b.Clean(t.Context(), name, who("janitor"))
		if err != nil || c.Token <= token {
			t.Fatalf("clean: %v, token %d after %d", err, c.Token, token)
		}
		if err := b.FinishClean(t.Context(), name, token, "not mine"); !errors.As(err, &stale) {
			t.Errorf("the holder before finishes cleaning: %v", err)
		}
		if err := b.FinishClean(t.Context(), name, c.Token, "clean"); err != nil {
			t.Fatal(err)
		}
		next, err := b.Acquire(t.Context(), Request{Reservations: []string{name}, Ticket: who("bob")})
		if err != nil || next[0].Token <= c.Token {
			t.Errorf("after cleaning: %v %+v", err, next)
		}
		if err := b.Check(t.Context(), name, token); !errors.As(err, &stale) || stale.Holder != "bob" {
			t.Errorf("the first holder's token is still good: %v", err)
		}
	})
}

// Tickets are served in order of time, the higher class first.
func TestQueue(t *testing.T) {
	k := shared.Kube(t)
	s := cached(t, k)
	name := reservations(t, k, store.Spec{NeedsNoCleaning: true}, "queue")[0]
	b := New(Options{Store: s, Poll: 5 * time.Millisecond})
	first, err := b.Acquire(t.Context(), Request{Reservations: []string{name}, Ticket: who("first")})
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	var order []string
	var waiting sync.WaitGroup
	for i, holder := range []string{"ada", "bob", "night", "cyd"} {
		ticket := who(holder)
		if holder == "night" {
			ticket.Class, ticket.Priority = "nightly", 10
		}
		waiting.Go(func() {
			got, err := b.Acquire(t.Context(), Request{Reservations: []string{name}, Ticket: ticket, Wait: true})
			if err != nil {
				t.Error(err)
				return
			}
			mu.Lock()
			order = append(order, holder)
			mu.Unlock()
			if err := b.Release(t.Context(), name, got[0].Token, "done"); err != nil {
				t.Error(err)
			}
		})
		polltest.Until(t, holder+" to wait", func() bool {
			q, err := b.Queue(t.Context(), name)
			return err == nil && len(q) == i+1
		})
	}
	if err := b.Release(t.Context(), name, first[0].Token, "done"); err != nil {
		t.Fatal(err)
	}
	waiting.Wait()
	if want := []string{"night", "ada", "bob", "cyd"}; len(order) != 4 || order[0] != want[0] || order[1] != want[1] || order[2] != want[2] || order[3] != want[3] {
		t.Errorf("served %v, want %v", order, want)
	}
}

// A cancelled ticket leaves the queue and takes no turn.
func TestLeavingTheQueue(t *testing.T) {
	k := shared.Kube(t)
	name := reservations(t, k, store.Spec{}, "leave")[0]
	b := New(Options{Store: k, Poll: 5 * time.Millisecond})
	if _, err := b.Acquire(t.Context(), Request{Reservations: []string{name}, Ticket: who("ada")}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	_, err := b.Acquire(ctx, Request{Reservations: []string{name}, Ticket: who("bob"), Wait: true, Progress: func(p []Place) {
		if p[0].Position != 1 || p[0].Holder != "ada" {
			t.Errorf("place %+v", p)
		}
		cancel()
	}})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("waited to its end: %v", err)
	}
	q, err := b.Queue(t.Context(), name)
	if err != nil || len(q) != 0 {
		t.Errorf("left in the queue: %+v, %v", q, err)
	}
}

// Of several reservations a holder gets all or none, however many ask for them in
// whatever order.
func TestGroups(t *testing.T) {
	k := shared.Kube(t)
	names := reservations(t, k, store.Spec{NeedsNoCleaning: true}, "a", "b", "c")
	var waiting sync.WaitGroup
	var mu sync.Mutex
	held := map[string]string{}
	for i, want := range [][]string{
		{names[0], names[1]}, {names[1], names[0]}, {names[2], names[0]}, {names[1], names[2]},
		{names[0], names[1], names[2]}, {names[2]}, {names[1]}, {names[0]},
	} {
		holder := string(rune('p' + i))
		b := New(Options{Store: cached(t, k), Poll: 5 * time.Millisecond})
		waiting.Go(func() {
			for range 5 {
				got, err := b.Acquire(t.Context(), Request{Reservations: want, Ticket: who(holder), Wait: true})
				if err != nil {
					t.Error(err)
					return
				}
				if len(got) != len(want) {
					t.Errorf("%s has %s of %v", holder, JoinNames(got), want)
				}
				mu.Lock()
				for _, g := range got {
					if held[g.Reservation] != "" {
						t.Errorf("%s is held by %s and %s", g.Reservation, held[g.Reservation], holder)
					}
					held[g.Reservation] = holder
				}
				mu.Unlock()
				mu.Lock()
				for _, g := range got {
					held[g.Reservation] = ""
				}
				mu.Unlock()
				for _, g := range got {
					if err := b.Release(t.Context(), g.Reservation, g.Token, "done"); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	waiting.Wait()
}

func TestGroupThatIsNotFree(t *testing.T) {
	k := shared.Kube(t)
	names := reservations(t, k, store.Spec{}, "free", "taken")
	b := New(Options{Store: k})
	if _, err := b.Acquire(t.Context(), Request{Reservations: names[1:], Ticket: who("ada")}); err != nil {
		t.Fatal(err)
	}
	var busy *BusyError
	if _, err := b.Acquire(t.Context(), Request{Reservations: names, Ticket: who("bob")}); !errors.As(err, &busy) || busy.Holder != "ada" {
		t.Errorf("both of them: %v", err)
	}
	for _, n := range names {
		r, err := k.Get(t.Context(), n)
		if err != nil {
			t.Fatal(err)
		}
		if len(r.Status.Queue) > 0 || r.Status.Lease != nil && r.Status.Lease.Holder == "bob" {
			t.Errorf("%s still has a ticket of bob: %+v", n, r.Status)
		}
	}
}
