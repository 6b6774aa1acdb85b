package simulation

import (
	"fmt"
	"slices"
	"time"

	"github.com/firstlight/firstlight/internal/reservation/lease"
	"github.com/firstlight/firstlight/internal/reservation/matrix"
	"github.com/firstlight/firstlight/internal/reservation/store"
)

// Finding is something that did not happen, or happened otherwise than it was to.
type Finding struct {
	Subject string `json:"subject"`
	Reason     string `json:"reason"`
}

func newFinding(subject, reason string) Finding { return Finding{Subject: subject, Reason: reason} }

// morning is what is known of a day, from its morning to the next.
type dayRecord struct {
	begins, ends    time.Time
	up, down, batch *store.HandOver
	// history has the day's transitions of each reservation.
	history map[string][]lease.Event
	// wanted are the cells of a night: reservation, version/intent.
	wanted []string
}

// row is what a hand-over came to at a reservation.
func (m dayRecord) row(h *store.HandOver, reservation string) store.HandOverRow {
	if h == nil {
		return store.HandOverRow{}
	}
	return *h.Clone().Status.Row(reservation)
}

// allWell finds hand-overs and cells that did not go as on every day.
func (m dayRecord) allWell() []Finding { return append(m.handedOver(), m.cells(nil)...) }

// handedOver finds what was not handed over, or not in its window.
func (m dayRecord) handedOver() []Finding {
	var out []Finding
	for name, h := range map[string]*store.HandOver{"morning-up": m.up, "evening-down": m.down} {
		switch {
		case h == nil:
			out = append(out, newFinding(name, "it was not begun"))
		case h.Status.Finished == nil:
			out = append(out, newFinding(name, "it was not done to its end"))
		case h.Status.Failed != "":
			out = append(out, newFinding(name, h.Status.Failed))
		case h.Status.Finished.After(h.Spec.Until.Time):
			out = append(out, newFinding(name, "it was done after its window"))
		case len(h.Status.Rows) != 2:
			out = append(out, newFinding(name, fmt.Sprintf("it was done at %d reservations, not at 2", len(h.Status.Rows))))
		}
	}
	return out
}

// cells finds those that did not pass, or not come to what they were to.
func (m dayRecord) cells(otherwise map[string]matrix.Outcome) []Finding {
	if m.batch == nil || m.batch.Status.Finished == nil {
		return []Finding{newFinding("nightly-batch", "it was not done to its end")}
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
				out = append(out, newFinding(name, fmt.Sprintf("%s, and was to be %s: %s", c.Outcome, want, c.Reason)))
			}
			if c.Outcome == matrix.Passed && c.Checks == 0 {
				out = append(out, newFinding(name, "it passed without a check"))
			}
			i := slices.Index(left, name)
			if i < 0 {
				out = append(out, newFinding(name, "it was not to be run"))
				continue
			}
			left = slices.Delete(left, i, i+1)
		}
	}
	for _, name := range left {
		out = append(out, newFinding(name, "it was not run"))
	}
	return out
}

// twice finds no cell that was begun again after it was lost.
func (m dayRecord) twice(reservation string) []Finding {
	for _, c := range m.row(m.batch, reservation).Cells {
		if c.Attempts > 1 && c.Outcome == matrix.Passed {
			return nil
		}
	}
	return []Finding{newFinding(reservation, "no cell was begun again after its controller was gone")}
}

// happened finds what did not happen to somebody's lease or ticket, in that order; to
// anybody's where who is empty.
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
	return []Finding{newFinding(reservation, fmt.Sprintf("%s: %v was to happen, in this order, and %v did not", orAnybody(who), what, left[0]))}
}

func orAnybody(who string) string {
	if who == "" {
		return "anybody"
	}
	return who
}

// any tells that one of these things happened.
func (m dayRecord) any(reservation, who string, what ...lease.EventType) bool {
	return slices.ContainsFunc(m.history[reservation], func(t lease.Event) bool {
		return slices.Contains(what, t.Type) && (who == "" || t.Actor == who)
	})
}

func (m dayRecord) said(reservation string, what lease.EventType, text string) bool {
	return slices.ContainsFunc(m.history[reservation], func(t lease.Event) bool { return t.Type == what && contains(t, text) })
}

// inOrder finds who had it before his turn.
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
	return []Finding{newFinding(reservation, fmt.Sprintf("%v had it in this order, and were to have it in this: %v", got, want))}
}
