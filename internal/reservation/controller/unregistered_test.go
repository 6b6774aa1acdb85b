package controller

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firstlight/firstlight/internal/reservation/config"
	"github.com/firstlight/firstlight/internal/reservation/lease"
	"github.com/firstlight/firstlight/internal/reservation/store"
)

// A row that leaves the registry while its deployment runs fails the evening: nothing removes it.
func TestDownFailsForADeploymentWhoseRowWasRemoved(t *testing.T) {
	from := at(t, "2027-01-10T13:30:00Z")
	h := newHarness(t, "unregistered", from)
	if err := h.play(t, from.Add(2*time.Hour), nil); err != nil {
		t.Fatal(err)
	}
	other := config.Reservation{Name: h.name + "-other", Slug: "r2", Cloud: config.AWS, DaytimeIntent: config.Training}
	applied, err := h.k.Apply(t.Context(), map[string]store.Spec{other.Name: {Cloud: "aws"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range applied {
		if a.Unregistered && a.Name == h.name { // the store has those of other tests too
			h.opts.Unregistered = append(h.opts.Unregistered, a.Name)
		}
	}
	h.opts.Registry = &config.Registry{Reservations: []config.Reservation{other}}
	if err := h.play(t, from.Add(11*time.Hour+50*time.Minute), nil); err != nil { // the lease ends ten minutes later
		t.Fatal(err)
	}
	down := h.done(t)["down"]
	if len(down) != 1 || down[0].Status.Finished == nil || !strings.Contains(down[0].Status.Failed, h.name+": blocked: reservation "+h.name+" is not in the registry") {
		t.Errorf("down: %+v", down)
	}
}

// A dirty reservation without a row is logged, once in each dirty state.
func TestDirtyReservationWithoutARowIsLogged(t *testing.T) {
	var log bytes.Buffer
	c := New(Options{Registry: &config.Registry{}, Log: slog.New(slog.NewTextHandler(&log, nil))})
	r := &store.Reservation{ObjectMeta: metav1.ObjectMeta{Name: "r1"}}
	logged := map[string]string{}
	for range 2 {
		r.Status.State, r.Status.DirtyInfo = lease.Dirty, &lease.DirtyInfo{Reason: "the term ended"}
		c.handleReservation(t.Context(), r, logged)
		c.handleReservation(t.Context(), r, logged)
		r.Status.State, r.Status.DirtyInfo = lease.Free, nil
		c.handleReservation(t.Context(), r, logged)
	}
	if n := strings.Count(log.String(), "r1 is not in the registry"); n != 2 {
		t.Errorf("logged %d times: %s", n, &log)
	}
}
