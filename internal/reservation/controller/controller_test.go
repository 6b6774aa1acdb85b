package controller

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/firstlight/firstlight/internal/reservation/hook"
	"github.com/firstlight/firstlight/internal/reservation/lease"
)

func trimmed(entry, name string) (string, bool) {
	return strings.CutPrefix(entry, name+"-")
}

// Three days around the change to summer time: each hand-over is made at its time, once.
func TestByTheClock(t *testing.T) {
	from := at(t, "2027-03-26T13:30:00Z")
	h := newHarness(t, "clock", from)
	if err := h.play(t, from.Add(72*time.Hour), nil); err != nil {
		t.Fatal(err)
	}
	want := map[string][]string{
		"up":    {"2027-03-26T14:00:00Z", "2027-03-27T14:00:00Z", "2027-03-28T13:00:00Z", "2027-03-29T13:00:00Z"},
		"down":  {"2027-03-27T01:00:00Z", "2027-03-28T01:00:00Z", "2027-03-29T00:00:00Z"},
		"batch": {"2027-03-27T03:00:00Z", "2027-03-28T02:00:00Z", "2027-03-29T02:00:00Z"},
	}
	got := h.done(t)
	for entry, times := range want {
		if len(got[entry]) != len(times) {
			t.Fatalf("%s was made %d times, want %d", entry, len(got[entry]), len(times))
		}
		for i, o := range got[entry] {
			if !o.Spec.At.Time.Equal(at(t, times[i])) || o.Status.Failed != "" || o.Status.Finished == nil && o.Spec.At.Add(time.Hour).Before(from.Add(72*time.Hour)) {
				t.Errorf("%s at %v, want %s: %+v", entry, o.Spec.At, times[i], o.Status)
			}
		}
	}
	if held := got["batch"][0].Status.Rows[0].HeldBack; len(held) != 1 || held[0].Reason == "" {
		t.Errorf("held-back cells are not recorded: %v", held)
	}
	if h.batch.runs != 3 || h.cloud.called(hook.Provision) != 4 || h.cloud.called(hook.Teardown) != 3 {
		t.Errorf("%d batches, %v", h.batch.runs, h.cloud.calls)
	}
}

// A failed hand-over is retried within its window, and reported if it never succeeds.
func TestTriedAgain(t *testing.T) {
	from := at(t, "2027-01-10T13:30:00Z")
	h := newHarness(t, "again", from)
	h.cloud.before = func(_ context.Context, v hook.Verb, _ string, _ hook.Lease) error {
		if v == hook.Teardown || v == hook.Provision && h.cloud.called(v) <= 2 {
			return fmt.Errorf("%s failed", v)
		}
		return nil
	}
	if err := h.play(t, from.Add(14*time.Hour), nil); err != nil {
		t.Fatal(err)
	}
	got := h.done(t)
	if up := got["up"][0].Status; up.Failed != "" || up.Rows[0].Result != "up" || up.Rows[0].Attempts < 3 {
		t.Errorf("up: %+v", up)
	}
	if down := got["down"][0].Status; !strings.Contains(down.Failed, "teardown failed") || down.Finished == nil || down.Rows[0].Attempts < 3 {
		t.Errorf("down: %+v", down)
	}
	if batch := got["batch"][0]; batch.Status.Finished != nil || h.batch.runs > 0 {
		t.Errorf("a batch ran where a leftover deployment exists: %+v", batch.Status)
	}
}

// A holder is warned before the end, asked in the evening, and keeps it until then.
func TestAHolderInTheEvening(t *testing.T) {
	from := at(t, "2027-01-10T13:30:00Z")
	h := newHarness(t, "evening", from)
	var token int64
	var seen []string
	if err := h.play(t, from.Add(13*time.Hour), func(now time.Time) bool {
		r, err := h.k.Get(t.Context(), h.name)
		if err != nil {
			t.Fatal(err)
		}
		l := r.Status.Lease
		if token == 0 && l != nil && l.Available {
			taken, err := h.b.Checkout(t.Context(), h.name, lease.Ticket{Holder: "ada"})
			if err != nil {
				t.Fatal(err)
			}
			token = taken.Token
			return false
		}
		if l != nil && l.Notice != nil && l.Token == token {
			if text := now.UTC().Format("15:04") + " " + l.Notice.By + " until " + l.Notice.At.UTC().Format("15:04"); len(seen) == 0 || seen[len(seen)-1] != text {
				seen = append(seen, text)
			}
		}
		return true
	}); err != nil {
		t.Fatal(err)
	}
	if len(seen) == 0 || !strings.HasPrefix(seen[0], "01:00 ") || !strings.HasSuffix(seen[0], "until 01:30") {
		t.Errorf("notices: %v", seen)
	}
	down := h.done(t)["down"][0].Status
	if down.Failed != "" || down.Finished == nil || down.Finished.Before(h.done(t)["down"][0].Spec.At.DeepCopy()) || down.Rows[0].Attempts < 2 {
		t.Errorf("down: %+v", down)
	}
	if h.cloud.called(hook.Teardown) != 1 {
		t.Errorf("%v", h.cloud.calls)
	}
}
