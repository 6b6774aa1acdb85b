package simulation

import (
	"fmt"
	"slices"
	"time"

	"github.com/firstlight/firstlight/internal/reservation/lease"
	"github.com/firstlight/firstlight/internal/reservation/matrix"
	"github.com/firstlight/firstlight/internal/reservation/store"
)

// Finding is a difference from the expected result.
type Finding struct {
	Subject string `json:"subject"`
	Reason  string `json:"reason"`
}

func newFinding(subject, reason string) Finding { return Finding{Subject: subject, Reason: reason} }

// dayRecord is everything known about a day, from its morning to the next.
type dayRecord struct {
	begins          time.Time
	up, down, batch *store.HandOver
	// history has the day's events by reservation.
	history map[string][]lease.Event
	// wanted are the expected cells: reservation, version/intent.
	wanted []string
}

// row returns the row of a reservation in a hand-over.
func (m dayRecord) row(h *store.HandOver, reservation string) store.HandOverRow {
	if h == nil {
		return store.HandOverRow{}
	}
	return *h.DeepCopy().Status.Row(reservation)
}

// allWell finds hand-overs and cells that differ from a regular day.
func (m dayRecord) allWell() []Finding { return append(m.handedOver(), m.cells(nil)...) }

// handedOver finds hand-overs that were not finished in their window.
func (m dayRecord) handedOver() []Finding {
	var out []Finding
	for name, h := range map[string]*store.HandOver{"morning-up": m.up, "evening-down": m.down} {
		switch {
		case h == nil:
			out = append(out, newFinding(name, "not started"))
		case h.Status.Finished == nil:
			out = append(out, newFinding(name, "not finished"))
		case h.Status.Failed != "":
			out = append(out, newFinding(name, h.Status.Failed))
		case h.Status.Finished.After(h.Spec.Until.Time):
			out = append(out, newFinding(name, "finished after its window"))
		case len(h.Status.Rows) != 2:
			out = append(out, newFinding(name, fmt.Sprintf("it has %d reservations, want 2", len(h.Status.Rows))))
		}
	}
	return out
}

// cells finds cells whose outcome is not passed, or not as listed in otherwise.
func (m dayRecord) cells(otherwise map[string]matrix.Outcome) []Finding {
	if m.batch == nil || m.batch.Status.Finished == nil {
		return []Finding{newFinding("nightly-batch", "not finished")}
	}
	var out []Finding
	left := slices.Clone(m.wanted)
	for _, row := range m.batch.Status.Rows {
		for _, c := range row.Cells {
			name := row.Reservation + " " + c.Name()
			want, ok := otherwise[name]
			if !ok {
				want = matrix.Passed
			}
			if c.Outcome != want {
				out = append(out, newFinding(name, fmt.Sprintf("%s, want %s: %s", c.Outcome, want, c.Reason)))
			}
			if c.Outcome == matrix.Passed && c.Checks == 0 {
				out = append(out, newFinding(name, "passed without a check"))
			}
			i := slices.Index(left, name)
			if i < 0 {
				out = append(out, newFinding(name, "unexpected cell"))
				continue
			}
			left = slices.Delete(left, i, i+1)
		}
	}
	for _, name := range left {
		out = append(out, newFinding(name, "the cell is missing"))
	}
	return out
}

// twice finds that no cell was restarted after it was lost.
func (m dayRecord) twice(reservation string) []Finding {
	for _, c := range m.row(m.batch, reservation).Cells {
		if c.Attempts > 1 && c.Outcome == matrix.Passed {
			return nil
		}
	}
	return []Finding{newFinding(reservation, "no cell was restarted after its controller stopped")}
}

// happened finds events that are missing, in this order, for a holder; for any holder if actor is
// empty.
func (m dayRecord) happened(reservation, who string, what ...lease.EventType) []Finding {
	left := what
	for _, t := range m.history[reservation] {
		if len(left) > 0 && t.Type == left[0] && (who == "" || t.Actor == who) {
			left = left[1:]
		}
	}
	if len(left) == 0 {
		return nil
	}
	return []Finding{newFinding(reservation, fmt.Sprintf("%s: want events %v in this order, %v is missing", orAnybody(who), what, left[0]))}
}

func orAnybody(who string) string {
	if who == "" {
		return "anybody"
	}
	return who
}

// any reports whether one of these events happened.
func (m dayRecord) any(reservation, who string, what ...lease.EventType) bool {
	return slices.ContainsFunc(m.history[reservation], func(t lease.Event) bool {
		return slices.Contains(what, t.Type) && (who == "" || t.Actor == who)
	})
}

func (m dayRecord) hasEvent(reservation string, what lease.EventType, text string) bool {
	return slices.ContainsFunc(m.history[reservation], func(t lease.Event) bool { return t.Type == what && contains(t, text) })
}

// inOrder finds leases that were not claimed in this order.
func (m dayRecord) inOrder(reservation string, want ...string) []Finding {
	var got []string
	for _, t := range m.history[reservation] {
		if t.Type == lease.Claimed {
			got = append(got, t.Actor)
		}
	}
	if slices.Equal(got, want) {
		return nil
	}
	return []Finding{newFinding(reservation, fmt.Sprintf("claimed by %v, want %v", got, want))}
}
