package controller

import (
	"strings"
	"testing"
	"time"

	"github.com/firstlight/firstlight/internal/reservation/broker"
	"github.com/firstlight/firstlight/internal/reservation/config"
	"github.com/firstlight/firstlight/internal/reservation/hook"
	"github.com/firstlight/firstlight/internal/reservation/lease"
	"github.com/firstlight/firstlight/internal/reservation/store"
)

// A deployment of a lease that a restored backup does not contain may be in use: only an operator
// removes it, also if the first cleaning after the restore could not list it.
func TestCleaningAfterARestoreLeavesANewerDeployment(t *testing.T) {
	m := newMemory(store.Spec{})
	now := time.Now()
	night := lease.Ticket{ID: "night", Holder: "team-x/nightly"}
	m.r.Status.Enqueue(night, now)
	old, err := m.r.Status.Claim(night.ID, now)
	if err != nil {
		t.Fatal(err)
	}
	if err := m.r.Status.Expire(old.Token, "team-x/nightly has not renewed it", now); err != nil { // the backup ends here
		t.Fatal(err)
	}
	c := newCloud()
	c.stands = []hook.Deployment{{Name: "fl-day-r1-2", Owner: "team-x", Reservation: "r1", Token: old.Token + 1}}
	c.broken[hook.Discover] = 1
	r := NewRotation(RotationOptions{Broker: broker.New(broker.Options{Store: m}), Store: m, Hooks: c, Now: time.Now})
	row := config.Reservation{Name: "r1", Slug: "r1", Cloud: config.AWS}
	clean := func(byHand bool) Outcome {
		t.Helper()
		o, err := r.Clean(t.Context(), row, "cleaner", byHand)
		if err != nil {
			t.Fatal(err)
		}
		return o
	}
	wantOutcome(t, clean(false), ResultFailed, "no permission")
	for range 2 {
		wantOutcome(t, clean(false), ResultBlocked, "the store was restored from a backup, and its holder may be alive; it needs an operator: firstlight reservation rotation down --reservation r1")
	}
	if s := m.state(t); s.CurrentState() != lease.Dirty || !s.DirtyInfo.ManualOnly || !strings.Contains(s.DirtyInfo.Reason, "fl-day-r1-2 has token") || c.called(hook.Teardown) > 0 {
		t.Errorf("%s %+v: %v", s.CurrentState(), s.DirtyInfo, c.calls)
	}
	wantOutcome(t, clean(true), ResultCleaned, "")
}

// An operator who confirms the restore with the token of the lost lease lets the controller clean.
func TestCleaningAfterAConfirmedRestore(t *testing.T) {
	for _, state := range []lease.State{lease.Free, lease.Dirty} {
		m := newMemory(store.Spec{})
		if m.r.Status.Token = time.Now().UnixMilli(); state == lease.Dirty {
			m.r.Status.State, m.r.Status.DirtyInfo = lease.Dirty, &lease.DirtyInfo{Reason: "released", Token: m.r.Status.Token}
		}
		lost := m.r.Status.Token + 5
		c := newCloud()
		c.stands = []hook.Deployment{{Name: "fl-day-r1-2", Owner: "team-x", Reservation: "r1", Token: lost}}
		b := broker.New(broker.Options{Store: m})
		if err := b.ConfirmRestore(t.Context(), "r1", lost, "etcd was restored"); err != nil {
			t.Fatal(err)
		}
		o, err := NewRotation(RotationOptions{Broker: b, Store: m, Hooks: c, Now: time.Now}).Clean(t.Context(), config.Reservation{Name: "r1", Slug: "r1", Cloud: config.AWS}, "cleaner", false)
		if err != nil || o.Result != ResultCleaned || c.called(hook.Teardown) != 1 {
			t.Errorf("%s: %v, %v: %v", state, o, err, c.calls)
		}
	}
}
