package controller

import (
	"testing"
	"time"

	"github.com/firstlight/firstlight/internal/suite"
)

// Every hand-over of a year is made at its time, once, also where the clocks are changed.
// Without the soak: the fortnight around the change to winter time.
func TestAYear(t *testing.T) {
	from, days := at(t, "2027-10-24T12:00:00Z"), 14
	if suite.Current() == suite.Soak {
		from, days = at(t, "2027-01-01T12:00:00Z"), 365
	}
	h := newHarness(t, "year", from)
	h.opts.Log = nil
	if err := h.play(t, from.Add(time.Duration(days)*24*time.Hour), nil); err != nil {
		t.Fatal(err)
	}
	got := h.done(t)
	for entry, hour := range map[string]int{"up": 15, "down": 2, "batch": 4} {
		if len(got[entry]) != days {
			t.Errorf("%s was made %d times in %d days", entry, len(got[entry]), days)
		}
		for _, o := range got[entry] {
			local := o.Spec.At.In(berlin(t))
			// 02:00 is not on the day on which the clock jumps from there to 03:00.
			if jumped := entry == "down" && local.Month() == time.March && local.Hour() == 3; local.Hour() != hour && !jumped {
				t.Errorf("%s at %v", entry, local)
			}
			if o.Status.Failed != "" || o.Status.Finished == nil && o != got[entry][len(got[entry])-1] {
				t.Errorf("%s at %v: %+v", entry, local, o.Status)
			}
		}
	}
	if h.batch.runs != days {
		t.Errorf("%d batches in %d days", h.batch.runs, days)
	}
}

func berlin(t *testing.T) *time.Location {
	t.Helper()
	zone, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	return zone
}
