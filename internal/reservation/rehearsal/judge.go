package rehearsal

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
	Why     string `json:"why"`
}

func found(subject, why string) Finding { return Finding{Subject: subject, Why: why} }

// morning is what is known of a day, from its morning to the next.
type morning struct {
	begins, ends    time.Time
	up, down, batch *store.HandOver
	// history has the day's transitions of each reservation.
	history map[string][]lease.Transition
	// wanted are the cells of a night: reservation, version/intent.
	wanted []string
}

// row is what a hand-over came to at a reservation.
func (m morning) row(h *store.HandOver, reservation string) store.HandOverRow {
	if h == nil {
		return store.HandOverRow{}
	}
	return *h.Clone().Status.Row(reservation)
}

// allWell finds hand-overs and cells that did not go as on every day.
func (m morning) allWell() []Finding { return append(m.handedOver(), m.cells(nil)...) }

// handedOver finds what was not handed over, or not in its window.
func (m morning) handedOver() []Finding {
	var out []Finding
	for name, h := range map[string]*store.HandOver{"morning-up": m.up, "evening-down": m.down} {
		switch {
		case h == nil:
			out = append(out, found(name, "it was not begun"))
		case h.Status.Finished == nil:
			out = append(out, found(name, "it was not done to its end"))
		case h.Status.Failed != "":
			out = append(out, found(name, h.Status.Failed))
		case h.Status.Finished.After(h.Spec.Until.Time):
			out = append(out, found(name, "it was done after its window"))
		case len(h.Status.Rows) != 2:
			out = append(out, found(name, fmt.Sprintf("it was done at %d reservations, not at 2", len(h.Status.Rows))))
		}
	}
	return out
}

// cells finds those that did not pass, or not come to what they were to.
func (m morning) cells(otherwise map[string]matrix.Outcome) []Finding {
	if m.batch == nil || m.batch.Status.Finished == nil {
		return []Finding{found("nightly-batch", "it was not done to its end")}
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
				out = append(out, found(name, fmt.Sprintf("%s, and was to be %s: %s", c.Outcome, want, c.Why)))
			}
			if c.Outcome == matrix.Passed && c.Checks == 0 {
				out = append(out, found(name, "it passed without a check"))
			}
			i := slices.Index(left, name)
			if i < 0 {
				out = append(out, found(name, "it was not to be run"))
				continue
			}
			left = slices.Delete(left, i, i+1)
		}
	}
	for _, name := range left {
		out = append(out, found(name, "it was not run"))
	}
	return out
}

// twice finds no cell that was begun again after it was lost.
func (m morning) twice(reservation string) []Finding {
	for _, c := range m.row(m.batch, reservation).Cells {
		if c.Attempts > 1 && c.Outcome == matrix.Passed {
			return nil
		}
	}
	return []Finding{found(reservation, "no cell was begun again after its controller was gone")}
}

// happened finds what did not happen to somebody's lease or ticket, in that order; to
// anybody's where who is empty.
func (m morning) happened(reservation, who string, what ...lease.What) []Finding {
	left := what
	for _, t := range m.history[reservation] {
		if len(left) > 0 && t.What == left[0] && (who == "" || t.Who == who) {
			left = left[1:]
		}
	}
	if len(left) == 0 {
		return nil
	}
	return []Finding{found(reservation, fmt.Sprintf("%s: %v was to happen, in this order, and %v did not", orAnybody(who), what, left[0]))}
}

func orAnybody(who string) string {
	if who == "" {
		return "anybody"
	}
	return who
}

// any tells that one of these things happened.
func (m morning) any(reservation, who string, what ...lease.What) bool {
	return slices.ContainsFunc(m.history[reservation], func(t lease.Transition) bool {
		return slices.Contains(what, t.What) && (who == "" || t.Who == who)
	})
}

func (m morning) said(reservation string, what lease.What, text string) bool {
	return slices.ContainsFunc(m.history[reservation], func(t lease.Transition) bool { return t.What == what && contains(t, text) })
}

// inOrder finds who had it before his turn.
func (m morning) inOrder(reservation string, want ...string) []Finding {
	var got []string
	for _, t := range m.history[reservation] {
		if t.What == lease.Claimed {
			got = append(got, t.Who)
		}
	}
	if slices.Equal(got, want) {
		return nil
	}
	return []Finding{found(reservation, fmt.Sprintf("%v had it in this order, and were to have it in this: %v", got, want))}
}
