package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/rest"

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
	histories    = "reservationhistories"
	// reservationLabel has the name of the reservation that a piece of history belongs to.
	reservationLabel = "firstlight.dev/reservation"
)

// Kube reads and writes reservations directly at an API server.
type Kube struct {
	client rest.Interface
	scheme *runtime.Scheme
	caller caller
}

// NewKube returns a client without a rate limit: a throttled broker lets leases expire.
func NewKube(config *rest.Config) (*Kube, error) {
	scheme := newScheme()
	c := rest.CopyConfig(config)
	c.GroupVersion, c.APIPath = &GroupVersion, "/apis"
	c.NegotiatedSerializer = serializer.NewCodecFactory(scheme).WithoutConversion()
	c.ContentType = runtime.ContentTypeJSON
	c.QPS = -1
	client, err := rest.RESTClientFor(c)
	if err != nil {
		return nil, fmt.Errorf("connect to the reservation store: %w", err)
	}
	return &Kube{client: client, scheme: scheme}, nil
}

// Get reads a reservation.
func (k *Kube) Get(ctx context.Context, name string) (*Reservation, error) {
	r := &Reservation{}
	err := k.client.Get().Resource(reservations).Name(name).Do(ctx).Into(r)
	return r, wrapError(err, "read reservation "+name)
}

// List reads all reservations, sorted by name.
func (k *Kube) List(ctx context.Context) ([]*Reservation, error) {
	var out []*Reservation
	opts := metav1.ListOptions{Limit: 500}
	for {
		list := &ReservationList{}
		if err := k.client.Get().Resource(reservations).VersionedParams(&opts, metav1.ParameterCodec).Do(ctx).Into(list); err != nil {
			return nil, wrapError(err, "list reservations")
		}
		for i := range list.Items {
			out = append(out, &list.Items[i])
		}
		if opts.Continue = list.Continue; opts.Continue == "" {
			return out, nil
		}
	}
}

// Create creates a reservation.
func (k *Kube) Create(ctx context.Context, r *Reservation) (*Reservation, error) {
	r.TypeMeta = metav1.TypeMeta{APIVersion: GroupVersion.String(), Kind: "Reservation"}
	out := &Reservation{}
	err := k.client.Post().Resource(reservations).Body(r).Do(ctx).Into(out)
	return out, wrapError(err, "create reservation "+r.Name)
}

// Update writes the spec.
func (k *Kube) Update(ctx context.Context, r *Reservation) (*Reservation, error) {
	out := &Reservation{}
	err := k.client.Put().Resource(reservations).Name(r.Name).Body(r).Do(ctx).Into(out)
	return out, wrapError(err, "change reservation "+r.Name)
}

// Delete deletes exactly this version.
func (k *Kube) Delete(ctx context.Context, r *Reservation) error {
	opts := &metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &r.UID, ResourceVersion: &r.ResourceVersion}}
	return wrapError(k.client.Delete().Resource(reservations).Name(r.Name).Body(opts).Do(ctx).Error(), "delete reservation "+r.Name)
}

// keepRecent is the least number of events in a status. It is small because each step reads and
// writes all of them (32 cost a fifth more CPU time per step). At twice as many, the oldest
// keepRecent move to a ReservationHistory, so that all concurrent writers cut pieces at the same
// place and an existing piece is identical.
const keepRecent = 8

// Save writes the status over the version of r; ErrConflict if a newer version exists.
func (k *Kube) Save(ctx context.Context, r *Reservation) (*Reservation, error) {
	r.TypeMeta = metav1.TypeMeta{APIVersion: GroupVersion.String(), Kind: "Reservation"}
	r.Status.Waiting = len(r.Status.Queue)
	r.Status.State = r.Status.CurrentState()
	for len(r.Status.Recent) >= 2*keepRecent {
		if err := k.archive(ctx, r, r.Status.Recent[:keepRecent]); err != nil {
			return nil, err
		}
		r.Status.Recent = slices.Clone(r.Status.Recent[keepRecent:])
	}
	result := k.client.Put().Resource(reservations).Name(r.Name).SubResource("status").SetHeader("Accept", metadataOnly).Body(r).Do(ctx)
	if err := result.Error(); err != nil { // the API server's own message
		return nil, wrapError(err, "change reservation "+r.Name)
	}
	raw, err := result.Raw()
	if err != nil {
		return nil, wrapError(err, "change reservation "+r.Name)
	}
	var answer struct {
		Metadata metav1.ObjectMeta `json:"metadata"`
	}
	if err := json.Unmarshal(raw, &answer); err != nil {
		return nil, fmt.Errorf("change reservation %s: decode the answer: %w", r.Name, err)
	}
	out := *r
	out.ObjectMeta = answer.Metadata
	return &out, nil
}

// metadataOnly requests only the new version: the rest equals what was sent.
const metadataOnly = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"

// archive stores events that were committed before: a step never adds as many as stay. The name
// has the time of the first event, because a restored store may reuse its number.
func (k *Kube) archive(ctx context.Context, r *Reservation, old []lease.Event) error {
	h := &ReservationHistory{
		TypeMeta: metav1.TypeMeta{APIVersion: GroupVersion.String(), Kind: "ReservationHistory"},
		ObjectMeta: metav1.ObjectMeta{
			Name:   fmt.Sprintf("%s-%d-%d", r.Name, old[0].N, old[0].At.UnixMicro()),
			Labels: map[string]string{reservationLabel: r.Name},
		},
		Events: old,
	}
	err := k.client.Post().Resource(histories).Body(h).Do(ctx).Error()
	if exists(err) {
		return nil
	}
	return wrapError(err, "archive the history of reservation "+r.Name)
}

// History returns the events of a reservation since a time, oldest first.
func (k *Kube) History(ctx context.Context, name string, since time.Time) ([]lease.Event, error) {
	r, err := k.Get(ctx, name) // read first: events that leave the status later are archived by then
	if err != nil {
		return nil, err
	}
	list := &ReservationHistoryList{}
	opts := metav1.ListOptions{LabelSelector: reservationLabel + "=" + name}
	if err := k.client.Get().Resource(histories).VersionedParams(&opts, metav1.ParameterCodec).Do(ctx).Into(list); err != nil {
		return nil, wrapError(err, "read the history of reservation "+name)
	}
	all := joinHistory(list.Items, r.Status.Recent)
	return slices.DeleteFunc(all, func(t lease.Event) bool { return t.At.Time.Before(since) }), nil
}

func exists(err error) bool { return apierrors.IsAlreadyExists(err) }

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
