package node

import (
	"strings"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/probe/nvidia"
)

const (
	remedyHeat     = "check the node's cooling (fans, air flow, coolant, inlet temperature) and power feeds; compare with its neighbours; if only this GPU is affected, reseat its heat sink or replace it"
	remedyClocks   = "reset the clocks (nvidia-smi --reset-gpu-clocks, --reset-applications-clocks) and find the process that sets them; if the card's maximum itself is low, check VBIOS and board, then replace it (RMA)"
	remedyCounters = "install a driver that has clocks_event_reasons_counters in nvidia-smi -q -x, then run again: firstlight accept --from node"
	remedyPower    = "set the card's default power limit again (nvidia-smi -pl) and find what lowered it: service, BMC policy, power capping of the rack"
)

// judgeClocks requires that no fault limits the clocks, and the profile's maximum clock.
func (g *Gate) judgeClocks(b *check.Builder, o check.Observation, suspect string, gpu nvidia.GPU) {
	for _, reason := range g.profile.Node.FaultClockReasons {
		active, reported := gpu.ClockReasons[reason]
		switch {
		case !reported:
			b.Unobserved(o.ID, suspect, remedyUnobserved, "does not report whether %s is active", reason)
		case active:
			b.Fail(o.ID, suspect, remedyHeat, "clocks are limited: %s is active", reason)
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

// judgePower requires the profile's power limit.
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

// judgeTemperature requires a GPU that is cooler than the temperature at which it slows down.
func (g *Gate) judgeTemperature(b *check.Builder, o check.Observation, suspect string, gpu nvidia.GPU) {
	limit := g.profile.GPU.SlowdownTmp.Value
	if hot := gpu.TemperatureC; hot == nil {
		b.Unobserved(o.ID, suspect, remedyUnobserved, "reports no temperature")
	} else if *hot <= 0 {
		b.Unobserved(o.ID, suspect, remedyUnobserved, "reports a temperature of %g C, which was not measured", *hot)
	} else if *hot >= limit {
		b.Fail(o.ID, suspect, remedyHeat, "is %g C hot, and slows down at %g C", *hot, limit)
	}
}

// judgePCIe judges the width and the highest generation; the current generation drops at idle.
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
		b.Fail(o.ID, suspect, remedy, "its PCIe link supports generation %d here, expected %g", *gen, g.profile.GPU.PCIeGen.Value)
	}
}

// judgeThrottling compares the throttling time before and after the diagnostic, or of two rounds of
// a watch, for faults that show only under load.
func (g *Gate) judgeThrottling(b *check.Builder, h *host, at slots) {
	start, end, ok := h.span()
	if !ok {
		return
	}
	before := map[string]nvidia.GPU{}
	for _, gpu := range start.log.GPUs {
		before[gpu.UUID] = gpu
	}
	for _, gpu := range end.log.GPUs {
		suspect := at.gpu(h, gpu.BusID)
		was, ok := before[gpu.UUID]
		if !ok {
			b.Unobserved(end.obs.ID, suspect, remedyUnobserved, "is %s %s and did not exist before: its behaviour under load is unknown", gpu.UUID, g.span().after)
			continue
		}
		for _, reason := range g.profile.Node.FaultClockReasons {
			if reason != withoutCounter {
				g.judgeThrottled(b, end.obs, suspect, reason, was, gpu)
			}
		}
	}
}

// withoutCounter is the reason that nvidia-smi counts only by its parts, thermal and power
// brake.
const withoutCounter = "hw_slowdown"

// judgeThrottled compares one reason's counter at the start and the end of the span.
func (g *Gate) judgeThrottled(b *check.Builder, o check.Observation, suspect, reason string, was, is nvidia.GPU) {
	before, counted := was.ClockCountersUS[counterOf(reason, was.ClockCountersUS)]
	after, still := is.ClockCountersUS[counterOf(reason, is.ClockCountersUS)]
	switch {
	case !counted || !still:
		b.Unobserved(o.ID, suspect, remedyCounters, "does not count the time of %s, so a fault under load cannot be observed", reason)
	case after < before:
		b.Unobserved(o.ID, suspect, remedyUnobserved, "its counter of %s decreased %s, from %d to %d us: it was reset", reason, g.span().during, before, after)
	case after > before:
		b.Fail(o.ID, suspect, remedyHeat, "clocks were limited by %s for %.3f s %s", reason, float64(after-before)/1e6, g.span().during)
	}
}

// counterOf is the name of a reason's counter: nvidia-smi shortens names of counters
// (hw_thermal_slowdown to hw_therm_slowdown, hw_power_brake_slowdown to hw_power_brake).
func counterOf(reason string, counters map[string]int64) string {
	short := strings.ReplaceAll(reason, "thermal", "therm")
	for _, name := range []string{reason, short, strings.TrimSuffix(reason, "_slowdown")} {
		if _, ok := counters[name]; ok {
			return name
		}
	}
	return ""
}
