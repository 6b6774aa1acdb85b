package controller

import (
	"testing"
	"time"

	"github.com/firstlight/firstlight/internal/reservation/hook"
	"github.com/firstlight/firstlight/internal/reservation/lease"
)

// A deployment of an earlier day is not that of today, also if its lease has not been ended yet.
func TestUpWithALeaseOfAnEarlierDay(t *testing.T) {
	d := newRotationDay(t)
	first := d.up(t)
	ends := d.state(t).Lease.TermEndsAt.Time
	for _, later := range []time.Duration{6 * time.Hour, 26 * time.Hour} { // a weekend's extension, a holiday
		d.now = ends.Add(later - 8*time.Hour)
		wantOutcome(t, d.up(t), ResultBlocked, "its lease ends at "+ends.UTC().Format(time.RFC3339))
	}
	if s := d.state(t); s.Lease == nil || s.Lease.Token != first.Token || d.cloud.called(hook.Provision) != 1 {
		t.Errorf("%+v, %v", s.Lease, d.cloud.calls)
	}
}

// The notice was shorter when the deployment of today was published: it lasts until the time of down.
func TestUpWithALeaseThatEndsALittleEarlier(t *testing.T) {
	d := newRotationDay(t)
	first := d.up(t)
	for _, later := range []time.Duration{10 * time.Minute, 30 * time.Minute} {
		d.now = d.state(t).Lease.TermEndsAt.Add(later - 8*time.Hour)
		if out := d.up(t); out.Result != ResultUp || out.Token != first.Token {
			t.Errorf("%s: %+v", later, out)
		}
	}
	d.now = d.state(t).Lease.TermEndsAt.Add(31*time.Minute - 8*time.Hour)
	wantOutcome(t, d.up(t), ResultBlocked, "its lease ends at")
}

// The controller stops during the day and starts two days later in the window of up: the deployment of
// the first day is removed, and then today's is provisioned.
func TestUpAfterAHoliday(t *testing.T) {
	from := at(t, "2027-01-10T13:30:00Z")
	h := newHarness(t, "holiday", from)
	if err := h.play(t, from.Add(2*time.Hour), nil); err != nil {
		t.Fatal(err)
	}
	if err := h.clock.Jump(from.Add(50 * time.Hour)); err != nil {
		t.Fatal(err)
	}
	if err := h.play(t, from.Add(51*time.Hour), nil); err != nil {
		t.Fatal(err)
	}
	r, err := h.k.Get(t.Context(), h.name)
	if err != nil {
		t.Fatal(err)
	}
	l := r.Status.Lease
	if r.Status.CurrentState() != lease.Leased || !l.Available || !l.TermEndsAt.Time.Equal(at(t, "2027-01-13T01:30:00Z")) {
		t.Errorf("it is %s, %+v", r.Status.CurrentState(), l)
	}
	if h.cloud.called(hook.Provision) != 2 || h.cloud.called(hook.Teardown) != 1 {
		t.Errorf("%v", h.cloud.calls)
	}
	for _, o := range h.done(t)["up"] {
		if o.Spec.At.Time.Equal(at(t, "2027-01-12T14:00:00Z")) && o.Status.Failed != "" {
			t.Errorf("up: %+v", o.Status)
		}
	}
}
