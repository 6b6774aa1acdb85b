package store

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// pieceOf is a ReservationHistory without its events.
type pieceOf struct {
	*metav1.PartialObjectMetadata
	n, at int64 // number and time of the first event
}

// PruneHistory deletes archived events of each reservation that are older than a time, and the
// oldest ones if there are more than most. It deletes whole pieces, and only those that archive
// wrote. The newest events are in the status and stay.
func (k *Kube) PruneHistory(ctx context.Context, oldest time.Time, most int) error {
	pieces := map[string][]pieceOf{}
	page := &metav1.PartialObjectMetadataList{}
	page.SetGroupVersionKind(GroupVersion.WithKind("ReservationHistoryList"))
	err := k.eachPage(ctx, page, func() {
		for i := range page.Items {
			of := page.Items[i].Labels[reservationLabel]
			if p, own := parsePiece(&page.Items[i], of); own {
				pieces[of] = append(pieces[of], p)
			}
		}
	}, client.HasLabels{reservationLabel})
	if err != nil {
		return wrapError(err, "list the history of all reservations")
	}
	var errs []error
	for _, all := range pieces {
		slices.SortFunc(all, func(a, b pieceOf) int { return cmp.Or(cmp.Compare(b.at, a.at), cmp.Compare(b.n, a.n)) })
		for i, p := range all {
			old := i > 0 && all[i-1].at < oldest.UnixMicro() // all its events are before the next piece
			if !old && (i+1)*archivedAtOnce <= most {
				continue
			}
			err := k.client.Delete(ctx, p.PartialObjectMetadata, client.Preconditions{UID: &p.UID})
			if err != nil && !apierrors.IsNotFound(err) {
				errs = append(errs, wrapError(err, "delete the history "+p.Name))
			}
		}
	}
	return errors.Join(errs...)
}

// parsePiece reads the name that archive gives; own is false for other objects.
func parsePiece(o *metav1.PartialObjectMetadata, reservation string) (p pieceOf, own bool) {
	name, ok := strings.CutPrefix(o.Name, reservation+"-")
	first, at, cut := strings.Cut(name, "-")
	n, errN := strconv.ParseInt(first, 10, 64)
	micros, errAt := strconv.ParseInt(at, 10, 64)
	return pieceOf{o, n, micros}, ok && cut && errN == nil && errAt == nil
}
