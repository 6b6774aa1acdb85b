package embedded

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/firstlight/firstlight/internal/world"
)

// A change of faults that is not in effect everywhere is undone: the world has the previous faults.
func TestFailedChangeOfFaultsIsUndone(t *testing.T) {
	t.Parallel()
	w, err := world.New(world.DefaultSpec(2))
	if err != nil {
		t.Fatal(err)
	}
	first, err := w.AddFault(world.Fault{Kind: "exporter-down"})
	if err != nil {
		t.Fatal(err)
	}
	broken := errors.New("Prometheus not ready")
	for name, alter := range map[string]func() error{
		"add":       func() error { _, err := w.AddFault(world.Fault{Kind: "half-gang"}); return err },
		"clear":     func() error { return w.ClearFault(first.ID) },
		"clear all": func() error { w.ClearAll(); return nil },
	} {
		settled := [][]world.Fault{}
		err := transact(t.Context(), w, alter, func(context.Context) error {
			settled = append(settled, w.Faults())
			if len(settled) == 1 {
				return broken
			}
			return nil
		})
		if !errors.Is(err, broken) {
			t.Errorf("%s: %v", name, err)
		}
		want := []world.Fault{first}
		if diff := cmp.Diff(want, w.Faults()); diff != "" {
			t.Errorf("%s: faults (-want +got):\n%s", name, diff)
		}
		if len(settled) != 2 || !cmp.Equal(settled[1], want) {
			t.Errorf("%s: settled %+v", name, settled)
		}
	}
}
