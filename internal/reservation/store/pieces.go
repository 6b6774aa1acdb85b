package store

import (
	"context"

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
