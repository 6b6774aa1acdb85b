package store

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firstlight/firstlight/internal/reservation/lease"
)

// registryLabel marks the reservations that Apply created and may delete.
const registryLabel = "firstlight.dev/registry"

// Applied is the result for one reservation: created, changed, unchanged, deleted, kept.
type Applied struct {
	Name   string `json:"name"`
	Result string `json:"result"`
	// Reason why a reservation that left the registry is kept.
	Reason string `json:"reason,omitempty"`
	// Unregistered: it has left the registry and is in use.
	Unregistered bool `json:"-"`
}

// Apply makes the reservations match a registry and returns the results sorted by name. A
// reservation that the registry no longer has is deleted when it is free and its queue is empty.
func (k *Kube) Apply(ctx context.Context, rows map[string]Spec) ([]Applied, error) {
	have, err := k.List(ctx)
	if err != nil {
		return nil, err
	}
	known := map[string]bool{}
	var out []Applied
	for _, r := range have {
		known[r.Name] = true
		spec, wanted := rows[r.Name]
		var a Applied
		if wanted {
			a, err = k.updateSpec(ctx, r, spec)
		} else {
			a, err = k.deleteUnused(ctx, r)
		}
		if err != nil {
			return out, err
		}
		out = append(out, a)
	}
	for _, name := range slices.Sorted(maps.Keys(rows)) {
		if known[name] {
			continue
		}
		r := &Reservation{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{registryLabel: "true"}}, Spec: rows[name]}
		made, err := k.Create(ctx, r)
		if err != nil {
			return out, err
		}
		if _, err := k.updateSpec(ctx, made, rows[name]); err != nil {
			return out, err
		}
		out = append(out, Applied{Name: name, Result: "created"})
	}
	slices.SortFunc(out, func(a, b Applied) int { return strings.Compare(a.Name, b.Name) })
	return out, nil
}

// updateSpec writes a spec, and retries conflicts.
func (k *Kube) updateSpec(ctx context.Context, r *Reservation, spec Spec) (Applied, error) {
	what := "unchanged"
	for {
		spec.NeedsNoCleaning = r.Spec.NeedsNoCleaning // not part of the registry
		same := r.Spec == spec && r.Labels[registryLabel] != ""
		if same && len(r.ManagedFields) == 0 {
			return Applied{Name: r.Name, Result: what}, nil
		}
		next := *r
		next.Spec = spec
		next.ManagedFields = noManagedFields()
		next.Labels = map[string]string{registryLabel: "true"}
		maps.Copy(next.Labels, r.Labels)
		_, err := k.Update(ctx, &next)
		if err == nil && !same {
			what = "changed"
		}
		if err == nil {
			return Applied{Name: r.Name, Result: what}, nil
		}
		if !errors.Is(err, ErrConflict) {
			return Applied{}, err
		}
		if r, err = k.Get(ctx, r.Name); err != nil {
			return Applied{}, err
		}
	}
}

// noManagedFields makes the API server stop tracking field managers until the next server-side
// apply. Tracking costs a fifth of a status write, and brokers do not use it.
func noManagedFields() []metav1.ManagedFieldsEntry { return []metav1.ManagedFieldsEntry{{}} }

// deleteUnused deletes an unused reservation at exactly the version that was read.
func (k *Kube) deleteUnused(ctx context.Context, r *Reservation) (Applied, error) {
	kept := func(reason string) (Applied, error) {
		return Applied{Name: r.Name, Result: "kept", Reason: reason, Unregistered: r.Labels[registryLabel] != ""}, nil
	}
	switch {
	case r.Labels[registryLabel] == "":
		return kept("it was not created from a registry")
	case r.Status.CurrentState() != lease.Free:
		return kept("it is " + string(r.Status.CurrentState()))
	case len(r.Status.Queue) > 0:
		return kept("its queue is not empty")
	}
	switch err := k.Delete(ctx, r); {
	case errors.Is(err, ErrConflict):
		return kept("it was changed concurrently")
	case err != nil && !errors.Is(err, ErrNotFound):
		return Applied{}, err
	}
	return Applied{Name: r.Name, Result: "deleted"}, nil
}
