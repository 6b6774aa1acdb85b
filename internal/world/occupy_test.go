package world

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestOccupyAllocatesFreeGPUs(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 2)
	notices, cancel := w.Subscribe()
	defer cancel()
	first, err := w.Occupy(Pod{UID: "a", Namespace: "ns", Name: "a"}, "gpu-01", 3, Load{Util: 50, PowerFrac: 0.5, MemMiB: 1000})
	if err != nil {
		t.Fatal(err)
	}
	select {
	case <-notices:
		t.Error("a notice of a load")
	default:
	}
	second, err := w.Occupy(Pod{UID: "b"}, "gpu-01", 5, Load{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([][]int{{0, 1, 2}, {3, 4, 5, 6, 7}}, [][]int{first, second}); diff != "" {
		t.Error(diff)
	}
	if _, err := w.Occupy(Pod{UID: "c"}, "gpu-01", 1, Load{}); err == nil {
		t.Error("a ninth GPU was allocated")
	}
	if again, err := w.Occupy(Pod{UID: "a"}, "gpu-01", 3, Load{}); err != nil || !cmp.Equal(first, again) {
		t.Errorf("second request: %v, %v", again, err)
	}
	if _, err := w.Occupy(Pod{UID: "a"}, "gpu-02", 1, Load{}); err == nil {
		t.Error("a pod got GPUs on two nodes")
	}
	g := w.State().Nodes[0].GPUs[0]
	if g.Occupant.Name != "a" || g.Util != 50 || g.MemUsedMiB != 1000 || g.Power < 300 || g.Reasons.Idle || g.SMClock != w.hw.GPU.LoadSMClock {
		t.Errorf("occupied GPU: %+v", g)
	}
	if err := w.SetLoad("a", Load{Util: 100, PowerFrac: 1}); err != nil {
		t.Fatal(err)
	}
	if g := w.State().Nodes[0].GPUs[0]; g.Util != 100 || g.Power < 650 {
		t.Errorf("after SetLoad: util %d, %.0f W", g.Util, g.Power)
	}
	w.Release("a")
	w.Release("a")
	if err := w.SetLoad("a", Load{}); err == nil {
		t.Error("a load without GPUs")
	}
	if g := w.State().Nodes[0].GPUs[0]; g.Occupant.UID != "" || g.Util != 0 || g.Power > 100 {
		t.Errorf("released GPU: %+v", g)
	}
}

func TestOccupySkipsBrokenGPUs(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 2)
	if _, err := w.AddFault(Fault{Kind: "gpu-off-bus", Target: "gpu-01/gpu2"}); err != nil {
		t.Fatal(err)
	}
	got, err := w.Occupy(Pod{UID: "a"}, "gpu-01", 4, Load{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]int{0, 1, 3, 4}, got); diff != "" {
		t.Error(diff)
	}
	if n := w.State().Nodes[0].UsableGPUs(); n != 7 {
		t.Errorf("%d usable GPUs", n)
	}
}

// Take allocates the GPUs of a claim, or refuses the pod.
func TestTakeAllocatesClaims(t *testing.T) {
	t.Parallel()
	const node = "gpu-01"
	of := func(claim string, gpus ...int) []Given {
		var out []Given
		for _, g := range gpus {
			out = append(out, Given{Index: g, Claim: claim})
		}
		return out
	}
	tests := map[string]struct {
		given   []Given
		plugged int
		want    []int
		refused string
	}{
		"a free GPU":                        {given: of("new", 5)},
		"two, and more by the plugin":       {given: of("new", 4, 5), plugged: 2, want: []int{6, 7}},
		"one that the device plugin gave":   {given: of("new", 1), refused: "GPU 1 of gpu-01 is held by ns/plugin"},
		"one of another claim":              {given: of("new", 3), refused: "GPU 3 of gpu-01 is held by ns/claimant"},
		"one that is shared":                {given: of("c", 3)},
		"one that is broken":                {given: of("new", 2), refused: "GPU 2 of gpu-01 not found"},
		"one that never was":                {given: of("new", 8), refused: "GPU 8 of gpu-01 not found"},
		"the plugin hands out no claimed":   {plugged: 4, want: []int{4, 5, 6, 7}},
		"more than is left":                 {plugged: 5, refused: "requests 5 GPUs of gpu-01, 4 are free"},
		"a free one, and more than is left": {given: of("new", 4), plugged: 4, refused: "requests 4 GPUs of gpu-01, 3 are free"},
		"nothing at all":                    {refused: "at least one GPU"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, 2)
			if _, err := w.Occupy(Pod{UID: "p", Namespace: "ns", Name: "plugin"}, node, 2, Load{}); err != nil {
				t.Fatal(err)
			}
			if _, err := w.Take(Pod{UID: "q", Namespace: "ns", Name: "claimant"}, node, of("c", 3), 0, Load{}); err != nil {
				t.Fatal(err)
			}
			if _, err := w.AddFault(Fault{Kind: "gpu-off-bus", Target: node + "/gpu2"}); err != nil {
				t.Fatal(err)
			}
			before := w.State()
			pod := Pod{UID: "new", Namespace: "ns", Name: "new"}
			got, err := w.Take(pod, node, tt.given, tt.plugged, Load{})
			if tt.refused != "" {
				if err == nil || !strings.Contains(err.Error(), tt.refused) {
					t.Errorf("error %v, want %q", err, tt.refused)
				}
				if diff := cmp.Diff(before.Nodes[0].GPUs[4].Occupant, w.State().Nodes[0].GPUs[4].Occupant); diff != "" {
					t.Errorf("a refused pod holds a GPU: %s", diff)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
			if again, err := w.Take(pod, node, tt.given, tt.plugged, Load{}); err != nil || !cmp.Equal(got, again) {
				t.Errorf("second request: %v, %v", again, err)
			}
			if _, err := w.Take(pod, node, of("else", 6), tt.plugged, Load{}); err == nil {
				t.Error("other GPUs to a pod that has some")
			}
			w.Release("new")
			if _, err := w.Occupy(Pod{UID: "after"}, node, 4, Load{}); err != nil {
				t.Errorf("not released: %v", err)
			}
		})
	}
}

func TestTroubleUnderLoad(t *testing.T) {
	t.Parallel()
	now := fixed()
	w, err := New(DefaultSpec(1), WithClock(func() time.Time { return now }))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range []Fault{
		{Kind: "power-capped", Target: "gpu-01/gpu0"}, {Kind: "clocks-capped", Target: "gpu-01/gpu1"}, {Kind: "thermal-throttle", Target: "gpu-01/gpu2"},
	} {
		if _, err := w.AddFault(f); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := w.Occupy(Pod{UID: "a"}, "gpu-01", 8, Load{Util: 100, PowerFrac: 1}); err != nil {
		t.Fatal(err)
	}
	now = now.Add(10 * time.Second)
	s := w.State()
	g := s.Nodes[0].GPUs
	if !g[0].Reasons.SWPowerCap || g[0].Power > 510 || g[0].SMClock >= g[3].SMClock {
		t.Errorf("power cap: %+v", g[0])
	}
	if !g[1].Reasons.ApplicationsClocks || g[1].SMClock != 1410 {
		t.Errorf("clock cap: %+v", g[1])
	}
	if !g[2].Reasons.HWThermal || g[2].Temp < 87 || g[2].HWThermal < 5*time.Second {
		t.Errorf("heat: %+v", g[2])
	}
	if f := s.Nodes[0].ClockFactor(); f > 0.7 {
		t.Errorf("the node computes at %.2f", f)
	}
	if healthy, hot, capped := s.Nodes[0].MatmulTFLOPS(g[3]), s.Nodes[0].MatmulTFLOPS(g[2]), s.Nodes[0].MatmulTFLOPS(g[0]); healthy < 600 || hot > 0.7*healthy || capped > 0.9*healthy {
		t.Errorf("products at %.0f TFLOPS, hot at %.0f, with less power at %.0f", healthy, hot, capped)
	}
}

// A power limit that is lowered only under heavy load is the default at idle and under a
// collective's load.
func TestPowerCapUnderLoad(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	if _, err := w.AddFault(Fault{Kind: "power-capped-later"}); err != nil {
		t.Fatal(err)
	}
	for _, load := range []struct{ frac, limit float64 }{{0, 700}, {0.55, 700}, {0.92, 500}, {0.1, 700}} {
		if _, err := w.Occupy(Pod{UID: "a"}, "gpu-01", 8, Load{Util: 99, PowerFrac: load.frac}); err != nil {
			t.Fatal(err)
		}
		s := w.State()
		g := s.Nodes[0].GPUs
		slow := s.Nodes[0].MatmulTFLOPS(g[6]) < 0.9*s.Nodes[0].MatmulTFLOPS(g[5])
		if g[6].PowerLimit != load.limit || g[5].PowerLimit != 700 || slow != (load.limit < 700) || g[6].Reasons.SWPowerCap != slow {
			t.Errorf("at %.2f of the power: %+v", load.frac, g[6])
		}
		w.Release("a")
	}
}

// A GPU that is slow at its full clock shows only in its throughput.
func TestSlowGPU(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 4)
	healthy := w.State().Nodes[2].GPUs[5]
	if _, err := w.AddFault(Fault{Kind: "gpu-slow-in-lockstep"}); err != nil {
		t.Fatal(err)
	}
	s := w.State()
	slow := s.Nodes[2].GPUs[5]
	if got, want := s.Nodes[0].MatmulTFLOPS(slow), 0.9*s.Nodes[0].MatmulTFLOPS(healthy); got < 0.999*want || got > 1.001*want {
		t.Errorf("%.1f TFLOPS, want %.1f", got, want)
	}
	if slow.Speed = healthy.Speed; !cmp.Equal(slow, healthy) {
		t.Errorf("State differs: %s", cmp.Diff(healthy, slow))
	}
}
