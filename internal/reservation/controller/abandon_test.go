package controller

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firstlight/firstlight/internal/reservation/broker"
	"github.com/firstlight/firstlight/internal/reservation/config"
	"github.com/firstlight/firstlight/internal/reservation/hook"
	"github.com/firstlight/firstlight/internal/reservation/lease"
	"github.com/firstlight/firstlight/internal/reservation/store"
)

// After a failed provisioning a deployment may exist: the reservation is dirty, also one that needs
// no cleaning after a holder.
func TestFailedProvisioningLeavesADirtyReservation(t *testing.T) {
	m := newMemory(store.Spec{NeedsNoCleaning: true})
	r := NewRotation(RotationOptions{
		Broker: broker.New(broker.Options{Store: m}), Store: m, Hooks: &cloud{}, Now: time.Now,
		Ready: func(context.Context, config.Reservation, string, hook.Lease) error { return errors.New("1 of 2 nodes") },
	})
	o, err := r.Up(t.Context(), config.Reservation{Name: "r1", Slug: "r1", DaytimeIntent: config.Training}, DayTimes{TermEndsAt: time.Now().Add(time.Hour), MaxEndsAt: time.Now().Add(time.Hour)})
	if err != nil || o.Result != ResultFailed {
		t.Fatalf("%+v, %v", o, err)
	}
	if s := m.state(t); s.CurrentState() != lease.Dirty {
		t.Errorf("it is %s with a deployment", s.CurrentState())
	}
}

// A controller that was killed after it published the deployment finds it by name.
func TestPublishedDeploymentIsFoundByName(t *testing.T) {
	m := newMemory(store.Spec{})
	r := NewRotation(RotationOptions{
		Broker: broker.New(broker.Options{Store: m}), Store: m, Hooks: &cloud{}, Now: time.Now,
		Ready: func(context.Context, config.Reservation, string, hook.Lease) error { return nil },
	})
	row := config.Reservation{Name: "r1", Slug: "r1", DaytimeIntent: config.Training}
	ends := time.Now().Add(time.Hour)
	first, err := r.Up(t.Context(), row, DayTimes{DownAt: ends, TermEndsAt: ends, MaxEndsAt: ends})
	if err != nil || first.Result != ResultUp {
		t.Fatalf("%+v, %v", first, err)
	}
	if again, err := r.Up(t.Context(), row, DayTimes{DownAt: ends, TermEndsAt: ends, MaxEndsAt: ends}); err != nil || again.Result != ResultUp || again.Deployment != first.Deployment {
		t.Errorf("%+v, %v, want deployment %s", again, err, first.Deployment)
	}
}

// slowly answers a write that frees the reservation after a renewal is due.
type slowly struct{ *memory }

func (s slowly) Save(ctx context.Context, r *store.Reservation) (*store.Reservation, error) {
	out, err := s.memory.Save(ctx, r)
	if err == nil && r.Status.CurrentState() == lease.Free {
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-time.After(20 * time.Second):
		}
	}
	return out, err
}

// Regression: the end of a cleaning looked like a lost lease to a renewal, which then cancelled the
// request that ended it, and the cleaning was reported as failed.
func TestEndOfACleaningIsNoLostLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory(store.Spec{})
		m.r.Status.State, m.r.Status.DirtyInfo = lease.Dirty, &lease.DirtyInfo{Reason: "released"}
		s := slowly{m}
		d := NewRotation(RotationOptions{Broker: broker.New(broker.Options{Store: s}), Store: s, Hooks: newCloud(), Now: time.Now})
		out, err := d.Clean(t.Context(), config.Reservation{Name: "r1", Cloud: config.AWS}, "controller", false)
		if err != nil || out.Result != ResultCleaned {
			t.Errorf("%+v, %v", out, err)
		}
	})
}
