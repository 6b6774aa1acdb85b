package node

import (
	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/probe/nvidia"
)

const (
	remedyECCOn = "switch ECC on (nvidia-smi -e 1) and reboot the node"
	remedyECC   = "drain the node, reset the GPU and run dcgmi diag -r 3 on it; if errors recur, replace it (RMA)"
	remedyRemap = "drain the node and reset the GPU (nvidia-smi --gpu-reset), so that the remapping takes effect"
	remedyRMA   = "drain the node and replace the GPU (RMA)"
)

// judgeMemory requires ECC without uncorrectable errors, and no pending row remapping.
func (g *Gate) judgeMemory(b *check.Builder, o check.Observation, suspect string, gpu nvidia.GPU) {
	switch gpu.ECC {
	case "Enabled":
		if gpu.ECCPending == "Disabled" {
			b.Fail(o.ID, suspect, remedyECCOn, "ECC is Enabled, and Disabled after the next reset")
		}
	case "":
		b.Unobserved(o.ID, suspect, remedyUnobserved, "reports no ECC mode")
	default:
		b.Fail(o.ID, suspect, remedyECCOn, "ECC is %s, expected Enabled", gpu.ECC)
	}
	for _, count := range []struct {
		name   string
		errors *int64
	}{
		{"volatile SRAM", gpu.Volatile.SRAMUncorrectable}, {"volatile DRAM", gpu.Volatile.DRAMUncorrectable},
		{"aggregate SRAM", gpu.Aggregate.SRAMUncorrectable}, {"aggregate DRAM", gpu.Aggregate.DRAMUncorrectable},
	} {
		switch {
		case count.errors == nil:
			b.Unobserved(o.ID, suspect, remedyUnobserved, "reports no %s uncorrectable error count", count.name)
		case *count.errors != 0:
			b.FailLasting(o.ID, suspect, remedyECC, "%d uncorrectable ECC errors (%s), expected 0", *count.errors, count.name)
		}
	}
	g.judgeCorrected(b, o, suspect, gpu)
	for _, bad := range []struct {
		is   *bool
		what string
	}{
		{gpu.SRAMThresholdExceeded, "the SRAM error threshold is exceeded"},
		{gpu.ChannelRepairPending, "a memory channel repair is pending"},
		{gpu.TPCRepairPending, "a TPC repair is pending"},
		{gpu.UnrepairableMemory, "has memory that cannot be repaired"},
		{gpu.BankRemapPending, "a bank remapping is pending"},
		{gpu.PageRetirementPending, "a page retirement is pending"},
	} {
		if bad.is != nil && *bad.is { // older drivers and other cards do not report these
			b.FailLasting(o.ID, suspect, remedyECC, "%s", bad.what)
		}
	}
	g.judgeRemap(b, o, suspect, gpu.Remap)
}

// judgeCorrected limits corrected errors: many of them predict a failure.
func (g *Gate) judgeCorrected(b *check.Builder, o check.Observation, suspect string, gpu nvidia.GPU) {
	sram, dram := g.profile.Node.MaxCorrectableSRAM.Value, g.profile.Node.MaxCorrectableDRAM.Value
	for _, count := range []struct {
		name   string
		errors *int64
		limit  float64
	}{
		{"volatile SRAM", gpu.Volatile.SRAMCorrectable, sram}, {"volatile DRAM", gpu.Volatile.DRAMCorrectable, dram},
		{"aggregate SRAM", gpu.Aggregate.SRAMCorrectable, sram}, {"aggregate DRAM", gpu.Aggregate.DRAMCorrectable, dram},
	} {
		switch {
		case !counted(count.errors):
			b.Unobserved(o.ID, suspect, remedyUnobserved, "reports no %s correctable error count", count.name)
		case float64(*count.errors) > count.limit:
			b.Fail(o.ID, suspect, remedyECC, "%d corrected ECC errors (%s), expected at most %.0f", *count.errors, count.name, count.limit)
		}
	}
}

func (g *Gate) judgeRemap(b *check.Builder, o check.Observation, suspect string, r *nvidia.RowRemap) {
	if r == nil || r.Pending == nil || r.Failure == nil || !counted(r.UncorrectableRows) || !counted(r.CorrectableRows) {
		b.Unobserved(o.ID, suspect, remedyUnobserved, "reports no row remapping (pending, failure, correctable and uncorrectable rows)")
		return
	}
	if *r.Failure {
		b.FailLasting(o.ID, suspect, remedyRMA, "a row remapping failed")
	}
	if *r.Pending {
		b.FailLasting(o.ID, suspect, remedyRemap, "a row remapping is pending")
	}
	limit := g.profile.Node.MaxRemappedRows.Value
	if n := *r.UncorrectableRows; float64(n) > limit {
		b.FailLasting(o.ID, suspect, remedyRMA, "%d rows remapped after uncorrectable errors, expected at most %g", n, limit)
	}
	if n := *r.CorrectableRows; float64(n) > limit {
		b.FailLasting(o.ID, suspect, remedyRMA, "%d rows remapped after corrected errors, expected at most %g", n, limit)
	}
}

// counted reports whether a count is known and valid.
func counted(n *int64) bool { return n != nil && *n >= 0 }
