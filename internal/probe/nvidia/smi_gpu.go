package nvidia

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// gpu converts one GPU element.
func (raw *rawGPU) gpu(index int) (GPU, error) {
	var r smiReader
	g := GPU{
		Index: index, UUID: r.text("uuid", raw.UUID), Serial: r.text("serial", raw.Serial),
		Product: r.text("product_name", raw.Product), VBIOS: r.text("vbios_version", raw.VBIOS),
	}
	bus, err := busID(cmp.Or(r.text("pci_bus_id", raw.PCI.BusID), raw.ID))
	if err != nil {
		return g, err
	}
	g.BusID = bus
	raw.memory(&r, &g)
	raw.clocks(&r, &g)
	raw.power(&r, &g)
	g.PCIeMaxGen = r.integer("max_link_gen", raw.PCI.MaxGen, "")
	g.PCIeWidth = r.integer("current_link_width", raw.PCI.Width, "x")
	g.PCIeMaxWidth = r.integer("max_link_width", raw.PCI.MaxWidth, "x")
	g.RecoveryAction = cmp.Or(r.text("gpu_recovery_action", raw.Recovery), raw.resetStatus(&r))
	g.License = r.text("license_status", raw.License)
	g.FabricState = r.text("fabric state", raw.Fabric.State)
	g.FabricStatus = r.text("fabric status", raw.Fabric.Status)
	g.FabricClique = r.text("fabric cliqueId", raw.Fabric.Clique)
	g.FabricCluster = r.text("fabric clusterUuid", raw.Fabric.Cluster)
	for _, item := range raw.Fabric.Health.Items {
		if value := r.text("fabric health "+item.XMLName.Local, item.Text); value != "" {
			if g.FabricHealth == nil {
				g.FabricHealth = map[string]string{}
			}
			g.FabricHealth[item.XMLName.Local] = value
		}
	}
	for _, p := range raw.Processes {
		if strings.Contains(p.Type, "C") {
			g.Processes = append(g.Processes, Process{PID: strings.TrimSpace(p.PID), Name: strings.TrimSpace(p.Name)})
		}
	}
	g.MIG = raw.mig(&r)
	g.Errors = r.failures
	if r.err == nil && g.UUID == "" && len(g.Errors) == 0 {
		r.err = errors.New("uuid is missing: not a document of nvidia-smi -q -x")
	}
	return g, r.err
}

// resetStatus is the recovery action of drivers that have no gpu_recovery_action; empty if it is not
// reported.
func (raw *rawGPU) resetStatus(r *smiReader) string {
	required := r.yes("reset_required", raw.Reset.Required)
	drain := r.yes("drain_and_reset_recommended", raw.Reset.Drain)
	switch {
	case required != nil && *required:
		return "GPU Reset Required"
	case drain != nil && *drain:
		return "Drain and Reset Recommended"
	case required != nil:
		return "None"
	default:
		return ""
	}
}

func (raw *rawGPU) memory(r *smiReader, g *GPU) {
	g.MemoryTotalMiB = r.integer("fb_memory_usage total", raw.Memory, "MiB")
	g.ECC = r.mode("current_ecc", raw.ECCMode)
	g.ECCPending = r.mode("pending_ecc", raw.ECCPending)
	g.Volatile = raw.ECC.Volatile.errors(r, "volatile")
	g.Aggregate = raw.ECC.Aggregate.errors(r, "aggregate")
	g.SRAMThresholdExceeded = r.yes("sram_threshold_exceeded", raw.ECC.Aggregate.Threshold)
	g.ChannelRepairPending = r.yes("channel_repair_pending", raw.ECC.Channel)
	g.TPCRepairPending = r.yes("tpc_repair_pending", raw.ECC.TPC)
	g.UnrepairableMemory = r.yes("unrepairable_memory", raw.ECC.NoRepair)
	g.BankRemapPending = r.yes("bank_remapper_pending", raw.BankRemap)
	g.PageRetirementPending = r.yes("pending_retirement", firstText(raw.Retired.Pending, raw.Retired.Blacklist))
	r.text("remapped_rows", raw.Remap.Text)
	remap := RowRemap{
		CorrectableRows:   r.integer("remapped_row_corr", raw.Remap.Corr, ""),
		UncorrectableRows: r.integer("remapped_row_unc", raw.Remap.Unc, ""),
		Pending:           r.yes("remapped_row_pending", raw.Remap.Pending),
		Failure:           r.yes("remapped_row_failure", raw.Remap.Failure),
	}
	if remap != (RowRemap{}) {
		g.Remap = &remap
	}
}

func (raw rawErrors) errors(r *smiReader, span string) ECCErrors {
	name := func(s string) string { return span + " " + s }
	return ECCErrors{
		SRAMUncorrectable: cmp.Or(
			r.integer(name("sram_uncorrectable"), raw.SRAMUnc, ""),
			sum(r.integer(name("sram_uncorrectable_parity"), raw.SRAMParity, ""), r.integer(name("sram_uncorrectable_secded"), raw.SRAMSecded, ""))),
		DRAMUncorrectable: r.integer(name("dram_uncorrectable"), raw.DRAMUnc, ""),
		SRAMCorrectable:   r.integer(name("sram_correctable"), raw.SRAMCorr, ""),
		DRAMCorrectable:   r.integer(name("dram_correctable"), raw.DRAMCorr, ""),
	}
}

func (raw *rawGPU) clocks(r *smiReader, g *GPU) {
	g.ClockReasons = map[string]bool{}
	for _, item := range append(raw.EventReasons.Items, raw.ThrottleReasons.Items...) {
		name := item.XMLName.Local
		short := strings.TrimPrefix(strings.TrimPrefix(name, "clocks_event_reason_"), "clocks_throttle_reason_")
		if active := r.either(name, item.Text, "Active", "Not Active"); active != nil {
			g.ClockReasons[short] = *active
		}
	}
	g.ClockCountersUS = map[string]int64{}
	for _, item := range raw.EventCounters.Items {
		name := item.XMLName.Local
		if us := r.integer(name, item.Text, "us"); us != nil {
			g.ClockCountersUS[strings.TrimPrefix(name, "clocks_event_reasons_counters_")] = *us
		}
	}
	g.SMClockMHz = r.integer("clocks sm_clock", raw.SMClock, "MHz")
	g.MaxSMClockMHz = r.integer("max_clocks sm_clock", raw.MaxSMClock, "MHz")
	g.AppClockMHz = r.integer("applications_clocks graphics_clock", raw.AppClock, "MHz")
	g.DefaultAppClockMHz = r.integer("default_applications_clocks graphics_clock", raw.DefaultApp, "MHz")
}

func (raw *rawGPU) power(r *smiReader, g *GPU) {
	p := raw.Power
	old := raw.OldPower
	g.PowerDrawW = r.number("power_draw", firstText(p.Average, p.Instant, p.Draw, old.Draw), "W")
	g.PowerLimitW = r.number("power_limit", firstText(p.Limit, p.OldLimit, old.OldLimit, old.Limit), "W")
	g.DefaultPowerLimitW = r.number("default_power_limit", firstText(p.Default, old.Default), "W")
	g.TemperatureC = r.number("gpu_temp", raw.Temperature, "C")
}

// busID converts a PCI bus ID to the form of lspci: "00000000:1B:00.0" to "0000:1b:00.0".
func busID(s string) (string, error) {
	parts := strings.FieldsFunc(s, func(c rune) bool { return c == ':' || c == '.' })
	if len(parts) != 4 {
		return "", fmt.Errorf("invalid PCI bus ID %.40q", s)
	}
	var n [4]uint64
	for i, p := range parts {
		v, err := strconv.ParseUint(p, 16, 32)
		if err != nil {
			return "", fmt.Errorf("invalid PCI bus ID %.40q", s)
		}
		n[i] = v
	}
	return fmt.Sprintf("%04x:%02x:%02x.%x", n[0], n[1], n[2], n[3]), nil
}
