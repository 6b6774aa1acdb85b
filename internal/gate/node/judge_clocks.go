package node

import (
	"strings"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/probe/nvidia"
)

const (
	remedyHeat     = "check the node's cooling (fans, air flow, coolant, inlet temperature) and power feeds; compare with its neighbours; if only this GPU is affected, reseat its heat sink or replace it"
	remedyClocks   = "reset the clocks (nvidia-smi --reset-gpu-clocks, --reset-applications-clocks) and look for who sets them; if the card's maximum itself is low, check VBIOS and board, then replace it (RMA)"
	remedyCounters = "install a driver that has clocks_event_reasons_counters in nvidia-smi -q -x, then walk again: firstlight accept --from node"
	remedyPower    = "set the card's default power limit again (nvidia-smi -pl) and look for who lowered it: service, BMC policy, power capping of the rack"
)

// judgeClocks: nothing that is a fault holds the clocks down, and the card may
// go as high as the profile says.
func (g *Gate) judgeClocks(b *check.Builder, o check.Observation, suspect string, gpu nvidia.GPU) {
	for _, reason := range g.profile.Node.FaultClockReasons {
		active, reported := gpu.ClockReasons[reason]
		switch {
		case !reported:
			b.Unobserved(o.ID, suspect, remedyUnobserved, "does not report whether %s is active", reason)
		case active:
			b.Fail(o.ID, suspect, remedyHeat, "clocks are held down: %s is active", reason)
		}
	}
	want := g.profile.GPU.MaxSMClock.Value
	if clock := gpu.MaxSMClockMHz; clock == nil {
		b.Unobserved(o.ID, suspect, remedyUnobserved, "reports no maximum SM clock")
	} else if float64(*clock) < want {
		b.Fail(o.ID, suspect, remedyClocks, "its maximum SM clock is %d MHz, expected %g MHz", *clock, want)
	}
	app, def := gpu.AppClockMHz, gpu.DefaultAppClockMHz
	if app != nil && def != nil && *app < *def { // newer drivers have neither
		b.Fail(o.ID, suspect, remedyClocks, "its applications clock is set to %d MHz, the default is %d MHz", *app, *def)
	}
}

// judgePower: the card may draw what the profile says.
func (g *Gate) judgePower(b *check.Builder, o check.Observation, suspect string, gpu nvidia.GPU) {
	want := g.profile.GPU.TDP.Value
	limit, def := gpu.PowerLimitW, gpu.DefaultPowerLimitW
	switch {
	case limit == nil:
		b.Unobserved(o.ID, suspect, remedyUnobserved, "reports no power limit")
	case *limit < want:
		b.Fail(o.ID, suspect, remedyPower, "its power limit is %g W, expected %g W", *limit, want)
	case def != nil && *limit < *def:
		b.Fail(o.ID, suspect, remedyPower, "its power limit is %g W, the card's default is %g W", *limit, *def)
	}
}

// judgePCIe looks at the width and at the highest generation; the current
// generation falls at idle and says nothing.
func (g *Gate) judgePCIe(b *check.Builder, o check.Observation, suspect string, gpu nvidia.GPU) {
	const remedy = "reseat the GPU or its riser, check the slot and the BIOS settings of the link"
	want := g.profile.GPU.PCIeWidth.Value
	if lanes := gpu.PCIeWidth; lanes == nil {
		b.Unobserved(o.ID, suspect, remedyUnobserved, "reports no PCIe link width")
	} else if float64(*lanes) < want {
		b.Fail(o.ID, suspect, remedy, "its PCIe link has %d lanes, expected %g", *lanes, want)
	}
	if gen := gpu.PCIeMaxGen; gen == nil {
		b.Unobserved(o.ID, suspect, remedyUnobserved, "reports no PCIe link generation")
	} else if float64(*gen) < g.profile.GPU.PCIeGen.Value {
		b.Fail(o.ID, suspect, remedy, "its PCIe link can do generation %d here, expected %g", *gen, g.profile.GPU.PCIeGen.Value)
	}
}

// judgeThrottling compares the time that clocks were held down before the
// diagnostic with that after it: a fault that shows only under load.
func (g *Gate) judgeThrottling(b *check.Builder, h *host, at slots) {
	docs := h.documents()
	if len(docs) < 2 {
		return
	}
	before := map[string]nvidia.GPU{}
	for _, gpu := range docs[0].log.GPUs {
		before[gpu.UUID] = gpu
	}
	for _, gpu := range docs[1].log.GPUs {
		suspect := at.gpu(h, gpu.BusID)
		was, ok := before[gpu.UUID]
		if !ok {
			b.Unobserved(docs[1].obs.ID, suspect, remedyUnobserved, "is %s after the diagnostic and was not there before: what it did under load is not known", gpu.UUID)
			continue
		}
		for _, reason := range g.profile.Node.FaultClockReasons {
			if reason != withoutCounter {
				judgeHeld(b, docs[1].obs, suspect, reason, was, gpu)
			}
		}
	}
}

// withoutCounter is the reason that nvidia-smi counts by its parts only: thermal and power
// brake.
const withoutCounter = "hw_slowdown"

// judgeHeld compares one reason's counter on both sides of the diagnostic.
func judgeHeld(b *check.Builder, o check.Observation, suspect, reason string, was, is nvidia.GPU) {
	before, counted := was.ClockCountersUS[counterOf(reason, was.ClockCountersUS)]
	after, still := is.ClockCountersUS[counterOf(reason, is.ClockCountersUS)]
	switch {
	case !counted || !still:
		b.Unobserved(o.ID, suspect, remedyCounters, "does not count how long %s held its clocks down, so a fault under load is not seen", reason)
	case after < before:
		b.Unobserved(o.ID, suspect, remedyUnobserved, "its counter of %s fell during the diagnostic, from %d to %d us: it was reset", reason, before, after)
	case after > before:
		b.Fail(o.ID, suspect, remedyHeat, "clocks were held down by %s for %.3f s during the diagnostic", reason, float64(after-before)/1e6)
	}
}

// counterOf is the counter of a reason: nvidia-smi shortens the names of its
// counters (hw_thermal_slowdown is hw_therm_slowdown, hw_power_brake_slowdown is
// hw_power_brake).
func counterOf(reason string, counters map[string]int64) string {
	short := strings.ReplaceAll(reason, "thermal", "therm")
	for _, name := range []string{reason, short, strings.TrimSuffix(reason, "_slowdown")} {
		if _, ok := counters[name]; ok {
			return name
		}
	}
	return ""
}
