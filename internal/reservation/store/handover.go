package store

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/firstlight/firstlight/internal/reservation/matrix"
)

// +k8s:deepcopy-gen=true
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// HandOver is the record of one occurrence of a schedule entry. It is written before each step, so
// that the next controller can resume it.
type HandOver struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Spec              HandOverSpec   `json:"spec"`
	Status            HandOverStatus `json:"status,omitzero"`
}

// +k8s:deepcopy-gen=true

// HandOverSpec identifies the occurrence.
type HandOverSpec struct {
	Entry string `json:"entry"`
	// Action is up, down or batch.
	Action string `json:"action"`
	// At is the due time; Until is the end of the window.
	At    metav1.Time `json:"at"`
	Until metav1.Time `json:"until"`
	// By is the user that started it manually; empty: the schedule.
	By string `json:"by,omitempty"`
}

// +k8s:deepcopy-gen=true

// HandOverStatus has a row per reservation.
type HandOverStatus struct {
	Rows []HandOverRow `json:"rows,omitempty"`
	// Finished is the time at which no work was left; Failed lists the work that was not done.
	Finished *metav1.Time `json:"finished,omitempty"`
	Failed   string       `json:"failed,omitempty"`
}

// +k8s:deepcopy-gen=true

// HandOverRow is the progress at one reservation.
type HandOverRow struct {
	Reservation string `json:"reservation"`
	Cloud       string `json:"cloud,omitempty"`
	// Result is the controller.Result of the last attempt, or the outcome of a batch leg: passed,
	// failed, blocked.
	Result     string       `json:"result,omitempty"`
	Reason     string       `json:"reason,omitempty"`
	Deployment string       `json:"deployment,omitempty"`
	Token      int64        `json:"token,omitempty"`
	Attempts   int          `json:"attempts,omitempty"`
	Ended      *metav1.Time `json:"ended,omitempty"`
	// Cells are the cells of the batch; HeldBack are those that compat floors exclude.
	Cells    []matrix.Cell     `json:"cells,omitempty"`
	HeldBack []matrix.HeldBack `json:"heldBack,omitempty"`
}

// +k8s:deepcopy-gen=true
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// HandOverList is a list of hand-overs.
type HandOverList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata"`
	Items           []HandOver `json:"items"`
}

// Row returns the row of a reservation, and adds it if it is missing.
func (s *HandOverStatus) Row(reservation string) *HandOverRow {
	i := slices.IndexFunc(s.Rows, func(r HandOverRow) bool { return r.Reservation == reservation })
	if i < 0 {
		s.Rows = append(s.Rows, HandOverRow{Reservation: reservation})
		i = len(s.Rows) - 1
	}
	return &s.Rows[i]
}

// manualLabel marks hand-overs that were started manually.
const manualLabel = "firstlight.dev/by-hand"

// HandOverName is deterministic: every controller gives an occurrence the same name.
func HandOverName(entry string, at time.Time) string {
	return strings.ToLower(fmt.Sprintf("%s-%s", entry, at.UTC().Format("20060102-150405z")))
}

// EnsureHandOver creates a hand-over, or reads the existing one.
func (k *Kube) EnsureHandOver(ctx context.Context, spec HandOverSpec) (*HandOver, error) {
	name := HandOverName(spec.Entry, spec.At.Time)
	h := &HandOver{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: spec}
	if spec.By != "" {
		h.Labels = map[string]string{manualLabel: "true"}
	}
	err := k.client.Create(ctx, h)
	if apierrors.IsAlreadyExists(err) {
		err = k.client.Get(ctx, client.ObjectKey{Name: name}, h)
	}
	return h, wrapError(err, "start hand-over "+name)
}

// SaveHandOver writes the status over the version of h; ErrConflict if a newer version exists.
func (k *Kube) SaveHandOver(ctx context.Context, h *HandOver) (*HandOver, error) {
	out := h.DeepCopy()
	err := k.client.Status().Update(ctx, out)
	return out, wrapError(err, "save hand-over "+h.Name)
}

// ListHandOvers returns the hand-overs due since a time, oldest first.
func (k *Kube) ListHandOvers(ctx context.Context, since time.Time) ([]*HandOver, error) {
	all, err := k.listHandOvers(ctx)
	return slices.DeleteFunc(all, func(h *HandOver) bool { return h.Spec.At.Time.Before(since) }), err
}

// ListManualHandOvers returns the hand-overs that were started manually, oldest first.
func (k *Kube) ListManualHandOvers(ctx context.Context) ([]*HandOver, error) {
	return k.listHandOvers(ctx, client.MatchingLabels{manualLabel: "true"})
}

func (k *Kube) listHandOvers(ctx context.Context, opts ...client.ListOption) ([]*HandOver, error) {
	var out []*HandOver
	var page HandOverList
	err := k.eachPage(ctx, &page, func() {
		for i := range page.Items {
			out = append(out, &page.Items[i])
		}
	}, opts...)
	if err != nil {
		return nil, wrapError(err, "list hand-overs")
	}
	slices.SortStableFunc(out, func(a, b *HandOver) int { return a.Spec.At.Compare(b.Spec.At.Time) })
	return out, nil
}

// DeleteHandOver deletes a hand-over.
func (k *Kube) DeleteHandOver(ctx context.Context, name string) error {
	h := &HandOver{ObjectMeta: metav1.ObjectMeta{Name: name}}
	return wrapError(k.client.Delete(ctx, h), "delete hand-over "+name)
}
