package controller

import (
	"fmt"
	"testing"
	"time"

	"github.com/firstlight/firstlight/internal/reservation/calendar"
	"github.com/firstlight/firstlight/internal/reservation/hook"
	"github.com/firstlight/firstlight/internal/reservation/lease"
)

// earlyDown leaves time for extensions between the window of down and the batch.
const earlyDown = `zone: Europe/Berlin
entries:
- {name: %[1]s-up, action: up, cron: "0 10 * * *", window: 3h20m}
- {name: %[1]s-down, action: down, cron: "0 20 * * *", window: 1h30m}
- {name: %[1]s-batch, action: batch, cron: "0 5 * * *", window: 4h}
margins:
- {from: %[1]s-down, to: %[1]s-batch, at-least: 10m}
`

// A holder who extends as far as the broker allows keeps the deployment after the window of down. It
// is not a failure: the sweep removes it at the end of the lease.
func TestExtensionPastTheWindowOfDown(t *testing.T) {
	from := at(t, "2027-01-10T08:30:00Z")
	h := newHarness(t, "extended", from)
	times, err := calendar.Parse("schedule.yaml", fmt.Appendf(nil, earlyDown, h.name))
	if err != nil {
		t.Fatal(err)
	}
	h.opts.Schedule = times
	taken := false
	if err := h.play(t, at(t, "2027-01-10T22:30:00Z"), func(now time.Time) bool {
		r, err := h.k.Get(t.Context(), h.name)
		if err != nil {
			t.Fatal(err)
		}
		if l := r.Status.Lease; !taken && l != nil && l.Available {
			ada, err := h.b.Checkout(t.Context(), h.name, lease.Ticket{Holder: "ada"})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := h.b.Extend(t.Context(), h.name, ada.Token, 150*time.Minute, "one more run"); err != nil { // to 23:00 in Berlin
				t.Fatal(err)
			}
			taken = true
			return false
		}
		if n := h.cloud.called(hook.Teardown); n > 0 && now.Before(at(t, "2027-01-10T22:00:00Z")) {
			t.Errorf("it is removed at %s", now)
		}
		return true
	}); err != nil {
		t.Fatal(err)
	}
	down := h.done(t)["down"][0].Status
	if !taken || down.Failed != "" || down.Finished == nil || down.Rows[0].Result != string(ResultNotified) {
		t.Errorf("down: %+v", down)
	}
	if h.cloud.called(hook.Teardown) != 1 || len(h.cloud.stands) > 0 {
		t.Errorf("%v", h.cloud.calls)
	}
}
