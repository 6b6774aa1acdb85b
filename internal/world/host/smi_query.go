package host

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/firstlight/firstlight/internal/world"
)

// field is one column of a CSV query: its unit and its value for a GPU.
type field struct {
	unit  string
	value func(c *call, index int, g world.GPU) string
}

// smiQuery prints a CSV query; an unknown field is an error as in nvidia-smi.
func (c *call) smiQuery(names string, gpus []world.GPU, fields map[string]field) int {
	format, _ := c.option("--format")
	header, units := !strings.Contains(format, "noheader"), !strings.Contains(format, "nounits")
	var cols []string
	for n := range strings.SplitSeq(names, ",") {
		n = strings.TrimSpace(n)
		if _, ok := fields[n]; !ok {
			c.printf("Field \"%s\" is not a valid field to query.\n", n)
			return 2
		}
		cols = append(cols, n)
	}
	if header {
		var heads []string
		for _, n := range cols {
			if u := fields[n].unit; u != "" && units {
				n += " [" + u + "]"
			}
			heads = append(heads, n)
		}
		c.printf("%s\n", strings.Join(heads, ", "))
	}
	for i, g := range gpus {
		var row []string
		for _, n := range cols {
			v := fields[n].value(c, i, g)
			if u := fields[n].unit; u != "" && units && v != notAvailable {
				v += " " + u
			}
			row = append(row, v)
		}
		c.printf("%s\n", strings.Join(row, ", "))
	}
	return 0
}

// notAvailable is the value of a field that a GPU does not report; it has no unit.
const notAvailable = "[N/A]"

func gpuFields() map[string]field {
	text := func(f func(*call, world.GPU) string) field {
		return field{value: func(c *call, _ int, g world.GPU) string { return f(c, g) }}
	}
	num := func(unit string, f func(*call, world.GPU) float64, digits int) field {
		return field{unit: unit, value: func(c *call, _ int, g world.GPU) string { return strconv.FormatFloat(f(c, g), 'f', digits, 64) }}
	}
	fields := map[string]field{
		"index":                   {value: func(_ *call, i int, _ world.GPU) string { return strconv.Itoa(i) }},
		"count":                   text(func(c *call, _ world.GPU) string { return strconv.Itoa(len(c.visible())) }),
		"name":                    text(func(c *call, _ world.GPU) string { return c.node.Hardware.GPU.Product }),
		"uuid":                    text(func(_ *call, g world.GPU) string { return g.UUID }),
		"serial":                  text(func(_ *call, g world.GPU) string { return g.Serial }),
		"driver_version":          text(func(c *call, _ world.GPU) string { return c.node.Driver }),
		"vbios_version":           text(func(_ *call, g world.GPU) string { return g.VBIOS }),
		"pci.bus_id":              text(func(_ *call, g world.GPU) string { return longBus(g.BusID) }),
		"pcie.link.gen.current":   text(func(_ *call, g world.GPU) string { return strconv.Itoa(g.PCIeGen) }),
		"pcie.link.gen.max":       text(func(c *call, _ world.GPU) string { return strconv.Itoa(c.node.Hardware.GPU.PCIeGen) }),
		"pcie.link.width.current": text(func(_ *call, g world.GPU) string { return strconv.Itoa(g.PCIeWidth) }),
		"pcie.link.width.max":     text(func(c *call, _ world.GPU) string { return strconv.Itoa(c.node.Hardware.GPU.PCIeWidth) }),
		"persistence_mode":        text(func(*call, world.GPU) string { return "Enabled" }),
		"temperature.gpu":         text(func(_ *call, g world.GPU) string { return fmt.Sprintf("%.0f", g.Temp) }),
		"power.draw":              num("W", func(_ *call, g world.GPU) float64 { return g.Power }, 2),
		"power.limit":             num("W", func(_ *call, g world.GPU) float64 { return g.PowerLimit }, 2),
		"power.default_limit":     num("W", func(c *call, _ world.GPU) float64 { return c.node.Hardware.GPU.TDPWatts }, 2),
		"clocks.max.sm":           num("MHz", func(_ *call, g world.GPU) float64 { return float64(g.MaxSMClock) }, 0),
		"memory.total":            num("MiB", func(c *call, _ world.GPU) float64 { return float64(c.node.Hardware.GPU.MemoryMiB) }, 0),
		"memory.used":             num("MiB", func(_ *call, g world.GPU) float64 { return float64(g.MemUsedMiB) }, 0),
		"utilization.gpu": {unit: "%", value: func(c *call, _ int, g world.GPU) string {
			if c.node.MIG != "" {
				return notAvailable
			}
			return strconv.Itoa(g.Util)
		}},
		"ecc.mode.current": text(func(_ *call, g world.GPU) string { return enabled(g.ECCMode) }),

		"ecc.errors.uncorrected.volatile.dram":  text(func(_ *call, g world.GPU) string { return fmt.Sprint(g.Volatile.DRAMUncorrectable) }),
		"ecc.errors.uncorrected.volatile.sram":  text(func(_ *call, g world.GPU) string { return fmt.Sprint(g.Volatile.SRAMUncorrectable) }),
		"ecc.errors.uncorrected.aggregate.dram": text(func(_ *call, g world.GPU) string { return fmt.Sprint(g.Aggregate.DRAMUncorrectable) }),
		"ecc.errors.uncorrected.aggregate.sram": text(func(_ *call, g world.GPU) string { return fmt.Sprint(g.Aggregate.SRAMUncorrectable) }),
		"clocks_event_reasons.active":           text(func(_ *call, g world.GPU) string { return fmt.Sprintf("0x%016x", reasonMask(g.Reasons)) }),
	}
	for _, n := range []string{"clocks.sm", "clocks.current.sm"} {
		fields[n] = num("MHz", func(_ *call, g world.GPU) float64 { return float64(g.SMClock) }, 0)
	}
	fields["gpu_name"], fields["gpu_uuid"], fields["gpu_bus_id"] = fields["name"], fields["uuid"], fields["pci.bus_id"]
	return fields
}

func remapFields() map[string]field {
	all := gpuFields()
	bit := func(f func(world.Remap) bool) field {
		return field{value: func(_ *call, _ int, g world.GPU) string {
			if f(g.Remap) {
				return "1"
			}
			return "0"
		}}
	}
	return map[string]field{
		"gpu_name": all["name"], "gpu_uuid": all["uuid"], "gpu_bus_id": all["pci.bus_id"],
		"remapped_rows.pending":       bit(func(r world.Remap) bool { return r.Pending }),
		"remapped_rows.failure":       bit(func(r world.Remap) bool { return r.Failure }),
		"remapped_rows.correctable":   {value: func(_ *call, _ int, g world.GPU) string { return strconv.Itoa(g.Remap.Correctable) }},
		"remapped_rows.uncorrectable": {value: func(_ *call, _ int, g world.GPU) string { return strconv.Itoa(g.Remap.Uncorrectable) }},
	}
}

// reasonMask is NVML's bit mask of clock event reasons.
func reasonMask(r world.ClockReasons) uint64 {
	var m uint64
	for bit, on := range map[uint64]bool{
		0x1: r.Idle, 0x2: r.ApplicationsClocks, 0x4: r.SWPowerCap, 0x8: r.HWSlowdown,
		0x20: r.SWThermal, 0x40: r.HWThermal, 0x80: r.HWPowerBrake,
	} {
		if on {
			m |= bit
		}
	}
	return m
}

func enabled(on bool) string {
	if on {
		return "Enabled"
	}
	return "Disabled"
}
