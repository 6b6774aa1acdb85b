package lab

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/firstlight/firstlight/internal/lab/component"
)

func idleLab(t *testing.T) *Lab {
	t.Helper()
	l, err := New(Options{Name: "x", Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.sup.Close)
	return l
}

// Concurrent changes are applied one after the other, and what is recorded is what was applied.
func TestConcurrentFaultsAreAppliedOneByOne(t *testing.T) {
	t.Parallel()
	l := idleLab(t)
	applying := 0
	var applied component.Faults // without a lock: the race detector reports concurrent effects
	record := func(_ context.Context, f component.Faults) error {
		applying++
		if applying != 1 {
			t.Error("two changes at once")
		}
		applied = f
		applying--
		return nil
	}
	var writers sync.WaitGroup
	for i := range 8 {
		writers.Go(func() {
			for n := range 100 {
				on := (n+i)%2 == 0
				err := errors.Join(
					l.change(t.Context(), "half gang", func(f *component.Faults) { f.HalfGang = on }, record),
					l.change(t.Context(), "node label off", func(f *component.Faults) { f.NodeLabelOff = !on }, record),
				)
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	writers.Wait()
	if got := l.faults(); got != applied {
		t.Errorf("recorded %+v, applied %+v", got, applied)
	}
}

// A fault that was not applied is an error and not recorded. The next change of it is applied even
// if it sets what is recorded, because the failed one may be half applied.
func TestFailedFaultIsNotCountedAsApplied(t *testing.T) {
	t.Parallel()
	l := idleLab(t)
	broken := errors.New("not ready")
	set := func(on bool) func(*component.Faults) { return func(f *component.Faults) { f.HalfGang = on } }
	fail := func(context.Context, component.Faults) error { return broken }
	if err := l.change(t.Context(), "half gang", set(true), fail); !errors.Is(err, broken) {
		t.Errorf("a fault that could not be applied: %v", err)
	}
	if l.faults().HalfGang {
		t.Error("it is recorded")
	}
	calls := 0
	count := func(context.Context, component.Faults) error { calls++; return nil }
	for range 2 {
		if err := l.change(t.Context(), "half gang", set(false), count); err != nil {
			t.Fatal(err)
		}
	}
	if calls != 1 {
		t.Errorf("clearing a half-applied fault twice was applied %d times, want once", calls)
	}
}

// A fault that the lab cannot have was applied nowhere: clearing it needs nothing, so that other
// changes, which clear it too, succeed.
func TestAFaultOfAMissingComponentCanBeCleared(t *testing.T) {
	t.Parallel()
	l := idleLab(t)
	for name, set := range map[string]func(on bool) error{
		"adapter": func(on bool) error { return l.SetAdapterRuleWrong(t.Context(), on) },
		"webhook": func(on bool) error { return l.SetWebhookFailsOpen(t.Context(), on) },
	} {
		if err := set(true); err == nil {
			t.Errorf("%s: a component that is missing has a fault", name)
		}
		if err := set(false); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestAChangeThatWaitsForAnotherEndsWithItsContext(t *testing.T) {
	t.Parallel()
	l := idleLab(t)
	begun, end := make(chan struct{}), make(chan struct{})
	var first sync.WaitGroup
	first.Go(func() {
		err := l.change(t.Context(), "half gang", func(f *component.Faults) { f.HalfGang = true }, func(context.Context, component.Faults) error {
			close(begun)
			<-end
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	})
	defer first.Wait()
	defer close(end)
	<-begun
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := l.change(ctx, "node label off", func(f *component.Faults) { f.NodeLabelOff = true }); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
}

// A fault of a component that the lab does not have is an error.
func TestFaultOfAMissingComponentIsAnError(t *testing.T) {
	t.Parallel()
	l := idleLab(t)
	for name, err := range map[string]error{
		"adapter": l.SetAdapterRuleWrong(t.Context(), true),
		"webhook": l.SetWebhookFailsOpen(t.Context(), true),
		"trainer": l.SetTrainerDown(t.Context(), 1),
	} {
		if err == nil || !strings.Contains(err.Error(), "the lab does not have") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if got := l.faults(); got != (component.Faults{}) {
		t.Errorf("recorded: %+v", got)
	}
}
