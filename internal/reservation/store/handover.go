package store

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/firstlight/firstlight/internal/reservation/matrix"
)

// HandOver is one occurrence of an entry of the schedule, and what came of it: written
// before each step, so that whoever goes on with it knows what was begun.
type HandOver struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Spec              HandOverSpec   `json:"spec"`
	Status            HandOverStatus `json:"status,omitzero"`
}

// HandOverSpec is the occurrence.
type HandOverSpec struct {
	Entry string `json:"entry"`
	// Action is up, down or batch.
	Action string `json:"action"`
	// At is when it was due; Until is where its window ends.
	At    metav1.Time `json:"at"`
	Until metav1.Time `json:"until"`
	// By is who began it by hand; empty: the clock.
	By string `json:"by,omitempty"`
}

// HandOverStatus is what came of it, a row a reservation.
type HandOverStatus struct {
	Rows []HandOverRow `json:"rows,omitempty"`
	// Finished is when nothing more was to be done; Failed says what was not done then.
	Finished *metav1.Time `json:"finished,omitempty"`
	Failed   string       `json:"failed,omitempty"`
}

// HandOverRow is what came of it at one reservation.
type HandOverRow struct {
	Reservation string `json:"reservation"`
	Cloud       string `json:"cloud,omitempty"`
	// Result is that of the last attempt (rotation.Result), or of a leg of the batch:
	// passed, failed, blocked.
	Result     string       `json:"result,omitempty"`
	Reason     string       `json:"reason,omitempty"`
	Deployment string       `json:"deployment,omitempty"`
	Token      int64        `json:"token,omitempty"`
	Attempts   int          `json:"attempts,omitempty"`
	Ended      *metav1.Time `json:"ended,omitempty"`
	// Cells are the batch's; HeldBack are those that floors keep from being run.
	Cells    []matrix.Cell     `json:"cells,omitempty"`
	HeldBack []matrix.HeldBack `json:"heldBack,omitempty"`
}

// HandOverList is a list of them.
type HandOverList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata"`
	Items           []HandOver `json:"items"`
}

// Row finds the row of a reservation, and makes it where there is none.
func (s *HandOverStatus) Row(reservation string) *HandOverRow {
	i := slices.IndexFunc(s.Rows, func(r HandOverRow) bool { return r.Reservation == reservation })
	if i < 0 {
		s.Rows = append(s.Rows, HandOverRow{Reservation: reservation})
		i = len(s.Rows) - 1
	}
	return &s.Rows[i]
}

// DeepCopyObject makes it a runtime.Object.
func (h *HandOver) DeepCopyObject() runtime.Object { return h.Clone() }

// Clone is a deep copy.
func (h *HandOver) Clone() *HandOver {
	c := *h
	c.ObjectMeta = *h.ObjectMeta.DeepCopy() //nolint:staticcheck // says which DeepCopy
	c.Status.Finished = h.Status.Finished.DeepCopy()
	c.Status.Rows = slices.Clone(h.Status.Rows)
	for i := range c.Status.Rows {
		row := &c.Status.Rows[i]
		row.Ended = row.Ended.DeepCopy()
		row.Cells, row.HeldBack = slices.Clone(row.Cells), slices.Clone(row.HeldBack)
		for j := range row.Cells {
			row.Cells[j].Started, row.Cells[j].Ended = row.Cells[j].Started.DeepCopy(), row.Cells[j].Ended.DeepCopy()
		}
	}
	return &c
}

// DeepCopyObject makes it a runtime.Object.
func (l *HandOverList) DeepCopyObject() runtime.Object {
	c := *l
	c.Items = make([]HandOver, len(l.Items))
	for i := range l.Items {
		c.Items[i] = *l.Items[i].Clone()
	}
	return &c
}

const handOvers = "handovers"

// begunByHand labels what the clock did not begin.
const manualLabel = "firstlight.dev/by-hand"

// HandOverName is the same for the same occurrence, whoever writes it.
func HandOverName(entry string, at time.Time) string {
	return strings.ToLower(fmt.Sprintf("%s-%s", entry, at.UTC().Format("20060102-150405z")))
}

// OpenHandOver creates one, or reads the one that is there already.
func (k *Kube) EnsureHandOver(ctx context.Context, spec HandOverSpec) (*HandOver, error) {
	h := &HandOver{
		TypeMeta:   metav1.TypeMeta{APIVersion: GroupVersion.String(), Kind: "HandOver"},
		ObjectMeta: metav1.ObjectMeta{Name: HandOverName(spec.Entry, spec.At.Time)},
		Spec:       spec,
	}
	if spec.By != "" {
		h.Labels = map[string]string{manualLabel: "true"}
	}
	out := &HandOver{}
	err := k.client.Post().Resource(handOvers).Body(h).Do(ctx).Into(out)
	if exists(err) {
		out = &HandOver{}
		err = k.client.Get().Resource(handOvers).Name(h.Name).Do(ctx).Into(out)
	}
	return out, wrapError(err, "begin hand-over "+h.Name)
}

// SaveHandOver writes the status over the version that h was read at; ErrConflict when
// there is a newer one.
func (k *Kube) SaveHandOver(ctx context.Context, h *HandOver) (*HandOver, error) {
	h.TypeMeta = metav1.TypeMeta{APIVersion: GroupVersion.String(), Kind: "HandOver"}
	out := &HandOver{}
	err := k.client.Put().Resource(handOvers).Name(h.Name).SubResource("status").Body(h).Do(ctx).Into(out)
	return out, wrapError(err, "write down hand-over "+h.Name)
}

// HandOvers are those that were due since a time, oldest first.
func (k *Kube) ListHandOvers(ctx context.Context, since time.Time) ([]*HandOver, error) {
	all, err := k.listHandOvers(ctx, "")
	return slices.DeleteFunc(all, func(h *HandOver) bool { return h.Spec.At.Time.Before(since) }), err
}

// HandOversByHand are those that somebody began, oldest first.
func (k *Kube) ListManualHandOvers(ctx context.Context) ([]*HandOver, error) {
	return k.listHandOvers(ctx, manualLabel+"=true")
}

func (k *Kube) listHandOvers(ctx context.Context, selector string) ([]*HandOver, error) {
	var out []*HandOver
	opts := metav1.ListOptions{Limit: 500, LabelSelector: selector}
	for {
		list := &HandOverList{}
		if err := k.client.Get().Resource(handOvers).VersionedParams(&opts, metav1.ParameterCodec).Do(ctx).Into(list); err != nil {
			return nil, wrapError(err, "list hand-overs")
		}
		for i := range list.Items {
			out = append(out, &list.Items[i])
		}
		if opts.Continue = list.Continue; opts.Continue == "" {
			break
		}
	}
	slices.SortStableFunc(out, func(a, b *HandOver) int { return a.Spec.At.Compare(b.Spec.At.Time) })
	return out, nil
}

// DeleteHandOver removes one that nobody needs any more.
func (k *Kube) DeleteHandOver(ctx context.Context, name string) error {
	return wrapError(k.client.Delete().Resource(handOvers).Name(name).Do(ctx).Error(), "delete hand-over "+name)
}
