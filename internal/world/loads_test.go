package world_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/firstlight/firstlight/internal/world"
	"github.com/firstlight/firstlight/internal/world/worldtest"
)

// A change of a node's load computed the whole world again: gate node at 250 nodes spent most of its time so.
// Now Recent computes this node alone. The state must be the same.
func TestRecentAfterChangesOfLoadsIsTheState(t *testing.T) {
	t.Parallel()
	const nodes = 6
	now := time.Date(2026, 11, 2, 9, 0, 0, 0, time.UTC)
	w, err := world.New(world.DefaultSpec(nodes), world.WithClock(func() time.Time { return now }), worldtest.Shared(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range []world.Fault{
		{Kind: "thermal-throttle", Target: "gpu-01/gpu2"}, {Kind: "power-capped-later", Target: "gpu-03/gpu6"}, {Kind: "gpu-off-bus", Target: "gpu-02/gpu5"},
		{Kind: "link-flapping"}, {Kind: "pdu-off"}, {Kind: "chassis-on-standby", Target: "gpu-04"},
	} {
		if _, err := w.AddFault(f); err != nil {
			t.Fatal(err)
		}
	}
	rng := rand.New(rand.NewPCG(3, 5))
	node := func() string { return fmt.Sprintf("gpu-%02d", 1+rng.IntN(nodes)) }
	var pods []string
	var stops []func()
	for step := range 400 {
		switch rng.IntN(6) {
		case 0:
			pod := fmt.Sprintf("pod-%d", step)
			if _, err := w.Occupy(world.Pod{UID: pod, Name: pod}, node(), 1+rng.IntN(4), world.Load{Util: 50, PowerFrac: 0.95, MemMiB: 100}); err == nil {
				pods = append(pods, pod)
			}
		case 1:
			if len(pods) > 0 {
				if err := w.SetLoad(pods[rng.IntN(len(pods))], world.Load{Util: rng.IntN(100), PowerFrac: rng.Float64()}); err != nil {
					t.Fatal(err)
				}
			}
		case 2:
			if len(pods) > 0 {
				i := rng.IntN(len(pods))
				w.Release(pods[i])
				pods = append(pods[:i], pods[i+1:]...)
			}
		case 3:
			_, stop := w.Exercise(node())
			stops = append(stops, stop)
		case 4:
			if len(stops) > 0 {
				stops[0]()
				stops = stops[1:]
			}
		default:
			now = now.Add(time.Duration(rng.IntN(60)) * time.Millisecond)
		}
		if recent := w.Recent(); !recent.Now.Before(now) { // else it is a recent state
			if diff := cmp.Diff(w.State(), recent); diff != "" {
				t.Fatalf("step %d: not the state: %s", step, diff)
			}
		}
	}
}

// The node alone is computed.
func TestALoadOfANodeLeavesTheOthersAlone(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 2, 9, 0, 0, 0, time.UTC)
	w, err := world.New(world.DefaultSpec(3), world.WithClock(func() time.Time { return now }), worldtest.Shared(t))
	if err != nil {
		t.Fatal(err)
	}
	before := w.Recent()
	_, stop := w.Exercise("gpu-02")
	defer stop()
	after := w.Recent()
	if before.Nodes[1].GPUs[0].Util != 0 || after.Nodes[1].GPUs[0].Util != 100 {
		t.Errorf("%d and %d %% of gpu-02", before.Nodes[1].GPUs[0].Util, after.Nodes[1].GPUs[0].Util)
	}
	if &before.Nodes[0].GPUs[0] != &after.Nodes[0].GPUs[0] || &before.Links[0] != &after.Links[0] {
		t.Error("another part of the world was computed again")
	}
}
