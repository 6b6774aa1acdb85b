package store

import (
	"cmp"
	"context"
	"slices"

	"github.com/firstlight/firstlight/internal/reservation/lease"
)

// EachHistory calls each with every archived piece of history of all reservations, in no
// particular order. A piece never changes; a status may still have events that are archived
// already.
func (k *Kube) EachHistory(ctx context.Context, each func(reservation string, piece []lease.Event)) error {
	var page ReservationHistoryList
	err := k.eachPage(ctx, &page, func() {
		for _, h := range page.Items {
			each(h.Labels[reservationLabel], h.Events)
		}
	})
	return wrapError(err, "read the history of all reservations")
}

// joinHistory returns the events of pieces, and the recent ones, in order, each once. Pieces are in
// the order of their creation: a reservation that was created again, or whose store was restored,
// reuses numbers.
func joinHistory(pieces []ReservationHistory, recent []lease.Event) []lease.Event {
	slices.SortFunc(pieces, func(a, b ReservationHistory) int {
		return cmp.Or(a.CreationTimestamp.Compare(b.CreationTimestamp.Time), cmp.Compare(a.firstN(), b.firstN()))
	})
	type key struct{ n, at int64 }
	seen := map[key]bool{}
	var out []lease.Event
	add := func(events []lease.Event) {
		for _, e := range events {
			if k := (key{e.N, e.At.UnixMicro()}); !seen[k] {
				seen[k] = true
				out = append(out, e)
			}
		}
	}
	for _, h := range pieces {
		add(h.Events)
	}
	add(recent)
	return out
}

func (h *ReservationHistory) firstN() int64 {
	if len(h.Events) == 0 {
		return 0
	}
	return h.Events[0].N
}
