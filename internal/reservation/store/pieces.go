package store

import (
	"context"

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
