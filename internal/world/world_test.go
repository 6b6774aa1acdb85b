package world

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func fixed() time.Time { return time.Date(2026, 11, 2, 9, 0, 0, 0, time.UTC) }

func newWorld(t *testing.T, nodes int) *World {
	t.Helper()
	w, err := New(DefaultSpec(nodes), WithClock(fixed))
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func TestStateIsDeterministic(t *testing.T) {
	t.Parallel()
	a, b := newWorld(t, 4), newWorld(t, 4)
	for _, w := range []*World{a, b} {
		if _, err := w.AddFault(Fault{Kind: "link-degraded"}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Occupy(Pod{UID: "u1", Name: "p"}, "gpu-01", 8, Load{Util: 98, PowerFrac: 0.9}); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(a.State(), b.State()); diff != "" {
		t.Errorf("two worlds of one spec differ:\n%s", diff)
	}
}

func TestEveryFaultChangesTheState(t *testing.T) {
	t.Parallel()
	for _, k := range append(Catalogue(), Variations()...) {
		t.Run(k.Kind, func(t *testing.T) {
			t.Parallel()
			now := fixed()
			spec, err := SpecOf(k.Hardware(), 4)
			if err != nil {
				t.Fatal(err)
			}
			w, err := New(spec, WithClock(func() time.Time { return now }))
			if err != nil {
				t.Fatal(err)
			}
			f, err := w.AddFault(Fault{Kind: k.Kind})
			if err != nil {
				t.Fatal(err)
			}
			if f.Target != k.DefaultTarget {
				t.Errorf("target %q, want %q", f.Target, k.DefaultTarget)
			}
			now = now.Add(time.Second)
			broken := w.State()
			if re, err := w.SuspectPattern(f); err != nil || (re == nil) != (k.Suspect == "") {
				t.Errorf("suspect pattern %v, %v", re, err)
			}
			if err := w.ClearFault(f.ID); err != nil {
				t.Fatal(err)
			}
			if cmp.Equal(broken, w.State()) {
				t.Error("the fault alters nothing")
			}
		})
	}
}
