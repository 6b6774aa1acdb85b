package node_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/probe/nvidia"
)

// A missing required value is unobserved: a host that did not report its throttle
// counters, or whose kernel log had wrapped, passed as if there had been nothing.
func TestADemandedValueThatIsMissing(t *testing.T) {
	t.Parallel()
	on := func(change func(*nvidia.GPU)) func([]*hostSeen) {
		return func(h []*hostSeen) { h[1].gpu(2, change) }
	}
	after := func(h []*hostSeen) *nvidia.GPU { return &h[1].After.Log.GPUs[2] }
	for name, tt := range map[string]struct {
		spoil           func([]*hostSeen)
		suspect, saying string
	}{
		"no throttle counters": {on(func(g *nvidia.GPU) { g.ClockCountersUS = nil }), "gpu-02/gpu2", "does not count the time of hw_thermal_slowdown"},
		"one counter missing": {on(func(g *nvidia.GPU) {
			g.ClockCountersUS = map[string]int64{"hw_therm_slowdown": 5, "sw_therm_slowdown": 9}
		}), "gpu-02/gpu2", "hw_power_brake_slowdown"},
		"counters only after the load": {func(h []*hostSeen) {
			h[1].Before.Log.GPUs[2].ClockCountersUS = nil
			after(h).ClockCountersUS["hw_therm_slowdown"] = 1e9
		}, "gpu-02/gpu2", "does not count"},
		"a counter that fell": {func(h []*hostSeen) {
			h[1].Before.Log.GPUs[2].ClockCountersUS = map[string]int64{"hw_therm_slowdown": 2e9, "hw_power_brake": 7, "sw_therm_slowdown": 9}
			after(h).ClockCountersUS["hw_therm_slowdown"] = 1e9
		}, "gpu-02/gpu2", "decreased"},
		"no PCIe generation":            {on(func(g *nvidia.GPU) { g.PCIeMaxGen = nil }), "gpu-02/gpu2", "PCIe link generation"},
		"no fabric state":               {on(func(g *nvidia.GPU) { g.FabricState, g.FabricStatus = "", "" }), "gpu-02/gpu2", "fabric state"},
		"a fabric state without status": {on(func(g *nvidia.GPU) { g.FabricStatus = "" }), "gpu-02/gpu2", "fabric state"},
		"no word about recovery":        {on(func(g *nvidia.GPU) { g.RecoveryAction = "" }), "gpu-02/gpu2", "recovery"},
		"a kernel log that has wrapped": {func(h []*hostSeen) { h[1].Kernel.FromBoot = false }, "gpu-02", "does not begin with the boot"},
		"another GPU after the load":    {func(h []*hostSeen) { after(h).UUID, h[1].Links.GPUs[2].UUID = "GPU-new", "GPU-new" }, "gpu-02/gpu2", "did not exist before"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			hosts := healthy(t, 2)
			tt.spoil(hosts)
			j := judge(t, hosts)
			if j.Verdict != check.Unobserved {
				t.Fatalf("%s: %s", j.Verdict, j.Reason)
			}
			if !slices.ContainsFunc(j.Findings, func(f check.Finding) bool {
				return f.Suspect == tt.suspect && strings.Contains(f.Message, tt.saying) && f.Remedy != ""
			}) {
				t.Errorf("want %s: %s, got %+v", tt.suspect, tt.saying, j.Findings)
			}
		})
	}
}
