package controller

import (
	"context"
	"errors"
	"testing"
)

// A hand-over that came while the sweep cleaned ended its window as "blocked: it is
// cleaning by firstlight/controller" instead of with what failed.
func TestTurns(t *testing.T) {
	var turns reservationLocks
	cleaned, ok := turns.clean("a")
	if !ok {
		t.Fatal("unlocked")
	}
	if _, ok := turns.clean("a"); ok {
		t.Error("cleaned twice at a time")
	}
	tried := make(chan func())
	go func() {
		done, err := turns.try(t.Context(), "a")
		if err != nil {
			t.Error(err)
		}
		tried <- done
	}()
	other, err := turns.try(t.Context(), "b")
	if err != nil {
		t.Fatal(err)
	}
	other()
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := turns.try(over, "a"); !errors.Is(err, context.Canceled) {
		t.Errorf("its window is over: %v", err)
	}
	select {
	case <-tried:
		t.Fatal("tried while it was cleaned")
	default:
	}
	cleaned()
	done := <-tried
	if _, ok := turns.clean("a"); ok {
		t.Error("cleaned under a hand-over's hands")
	}
	done()
	if cleaned, ok = turns.clean("a"); !ok {
		t.Error("unlocked again")
	} else {
		cleaned()
	}
}
