package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/connrotation"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/firstlight/firstlight/internal/reservation/lease"
)

// Errors that callers decide on.
var (
	// ErrConflict: the object changed since it was read.
	ErrConflict = errors.New("the reservation was changed concurrently")
	// ErrNotFound: the object does not exist.
	ErrNotFound = errors.New("reservation not found")
)

const (
	reservations = "reservations"
	// reservationLabel has the name of the reservation that a piece of history belongs to.
	reservationLabel = "firstlight.dev/reservation"
)

// Kube reads and writes reservations directly at an API server. It changes no object that it is
// given, so that a caller can repeat a write.
type Kube struct {
	client client.WithWatch
	// raw is for the request that client does not have; see Save.
	raw    rest.Interface
	caller caller
	// connections are those of client and raw.
	connections *connrotation.Dialer
	offset      *clockOffset
}

// Reconnect closes all connections. One whose other end is gone without notice is used for all
// requests until a ping fails, after 45 seconds.
func (k *Kube) Reconnect() { k.connections.CloseAll() }

// Get reads a reservation.
func (k *Kube) Get(ctx context.Context, name string) (*Reservation, error) {
	r := &Reservation{}
	err := k.client.Get(ctx, client.ObjectKey{Name: name}, r)
	return r, wrapError(err, "read reservation "+name)
}

// List reads all reservations, sorted by name.
func (k *Kube) List(ctx context.Context) ([]*Reservation, error) {
	var out []*Reservation
	var page ReservationList
	err := k.eachPage(ctx, &page, func() {
		for i := range page.Items {
			out = append(out, &page.Items[i])
		}
	})
	if err != nil {
		return nil, wrapError(err, "list reservations")
	}
	return out, nil
}

// eachPage lists objects in pages, and calls each when the list has the next page. A page does not
// share memory with the one before.
func (k *Kube) eachPage(ctx context.Context, page client.ObjectList, each func(), opts ...client.ListOption) error {
	for {
		if err := k.client.List(ctx, page, append(opts, client.Limit(500), client.Continue(page.GetContinue()))...); err != nil {
			return err
		}
		each()
		if page.GetContinue() == "" {
			return nil
		}
	}
}

// Create creates a reservation.
func (k *Kube) Create(ctx context.Context, r *Reservation) (*Reservation, error) {
	out := r.DeepCopy()
	err := k.client.Create(ctx, out)
	return out, wrapError(err, "create reservation "+r.Name)
}

// Update writes the spec.
func (k *Kube) Update(ctx context.Context, r *Reservation) (*Reservation, error) {
	out := r.DeepCopy()
	err := k.client.Update(ctx, out)
	return out, wrapError(err, "change reservation "+r.Name)
}

// Delete deletes exactly this version.
func (k *Kube) Delete(ctx context.Context, r *Reservation) error {
	err := k.client.Delete(ctx, r, client.Preconditions{UID: &r.UID, ResourceVersion: &r.ResourceVersion})
	return wrapError(err, "delete reservation "+r.Name)
}

// A status has at least keepRecent events, and few, because each step reads and writes all of them. The
// oldest archivedAtOnce move to a ReservationHistory when there are keepRecent more, so that all
// concurrent writers cut pieces at the same place and an existing piece is identical. With 16, the
// lines in the status and the pieces together cost a step the least CPU time.
const (
	keepRecent     = 8
	archivedAtOnce = 16
)

// Save writes the status over the version of r; ErrConflict if a newer version exists. It requests
// only the new metadata, because the rest of the answer equals what was sent; client would request
// all of it. The API server need not search for unknown fields, for a warning: the types have none.
func (k *Kube) Save(ctx context.Context, r *Reservation) (*Reservation, error) {
	out := *r
	out.Status.Waiting = len(r.Status.Queue)
	out.Status.State = r.Status.CurrentState()
	for len(out.Status.Recent) >= archivedAtOnce+keepRecent {
		if err := k.archive(ctx, r.Name, out.Status.Recent[:archivedAtOnce]); err != nil {
			return nil, err
		}
		out.Status.Recent = slices.Clone(out.Status.Recent[archivedAtOnce:])
	}
	var answer metav1.PartialObjectMetadata
	err := k.raw.Put().Resource(reservations).Name(r.Name).SubResource("status").Param("fieldValidation", metav1.FieldValidationIgnore).
		SetHeader("Accept", "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1").Body(&out).Do(ctx).Into(&answer)
	if err == nil && answer.ResourceVersion == "" {
		err = errors.New("the API server returned no resource version")
	}
	if err != nil {
		return nil, wrapError(err, "change reservation "+r.Name)
	}
	out.ObjectMeta = answer.ObjectMeta
	return &out, nil
}

// archive stores events that were committed before: a step never adds as many as stay. The name
// has the time of the first event, because a restored store may reuse its number. An existing piece
// may be shorter: earlier versions archived fewer events at once.
func (k *Kube) archive(ctx context.Context, name string, old []lease.Event) error {
	h := &ReservationHistory{
		ObjectMeta: metav1.ObjectMeta{
			Name:   fmt.Sprintf("%s-%d-%d", name, old[0].N, old[0].At.UnixMicro()),
			Labels: map[string]string{reservationLabel: name},
		},
		Events: old,
	}
	err := k.client.Create(ctx, h)
	if apierrors.IsAlreadyExists(err) {
		err = k.client.Get(ctx, client.ObjectKey{Name: h.Name}, h)
		if n := len(h.Events); err == nil && 0 < n && n < len(old) {
			return k.archive(ctx, name, old[n:])
		}
	}
	return wrapError(err, "archive the history of reservation "+name)
}

// History returns the events of a reservation since a time, oldest first.
func (k *Kube) History(ctx context.Context, name string, since time.Time) ([]lease.Event, error) {
	r, err := k.Get(ctx, name) // read first: events that leave the status later are archived by then
	if err != nil {
		return nil, err
	}
	var list ReservationHistoryList
	if err := k.client.List(ctx, &list, client.MatchingLabels{reservationLabel: name}); err != nil {
		return nil, wrapError(err, "read the history of reservation "+name)
	}
	all := joinHistory(list.Items, r.Status.Recent)
	return slices.DeleteFunc(all, func(t lease.Event) bool { return t.At.Time.Before(since) }), nil
}

func wrapError(err error, doing string) error {
	switch {
	case err == nil:
		return nil
	case apierrors.IsConflict(err):
		return fmt.Errorf("%s: %w", doing, ErrConflict)
	case apierrors.IsNotFound(err):
		return fmt.Errorf("%s: %w", doing, ErrNotFound)
	default:
		return fmt.Errorf("%s: %w", doing, err)
	}
}

// GetUncached is Get.
func (k *Kube) GetUncached(ctx context.Context, name string) (*Reservation, error) {
	return k.Get(ctx, name)
}

// MayBeStale returns false.
func (k *Kube) MayBeStale() bool { return false }

// Interruptions returns 0: an unreachable API server is an error of the request.
func (k *Kube) Interruptions() uint64 { return 0 }
