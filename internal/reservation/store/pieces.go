package store

import (
	"cmp"
	"context"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firstlight/firstlight/internal/reservation/lease"
)

// EachHistory calls each with every archived piece of history of all reservations, in no
// particular order. A piece never changes; a status may still have events that are archived
// already.
func (k *Kube) EachHistory(ctx context.Context, each func(reservation string, piece []lease.Event)) error {
	opts := metav1.ListOptions{Limit: 500}
	for {
		list := &ReservationHistoryList{}
		if err := k.client.Get().Resource(histories).VersionedParams(&opts, metav1.ParameterCodec).Do(ctx).Into(list); err != nil {
			return wrapError(err, "read the history of all reservations")
		}
		for _, h := range list.Items {
			each(h.Labels[reservationLabel], h.Events)
		}
		if opts.Continue = list.Continue; opts.Continue == "" {
			return nil
		}
	}
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
