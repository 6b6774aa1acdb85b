package node

import (
	"fmt"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/probe/nvidia"
)

const (
	remedyECCOn = "switch ECC on (nvidia-smi -e 1) and reboot the node"
	remedyECC   = "drain the node, reset the GPU and run dcgmi diag -r 3 on it; if errors come back, replace it (RMA)"
	remedyRemap = "drain the node and reset the GPU (nvidia-smi --gpu-reset), so that the remapping takes effect"
	remedyRMA   = "drain the node and replace the GPU (RMA)"
)

// judgeMemory: ECC on and clean, rows not waiting to be remapped.
func (g *Gate) judgeMemory(v *verdict, o check.Observation, suspect string, gpu nvidia.GPU) {
	switch gpu.ECC {
	case "Enabled":
	case "":
		v.miss(o, suspect, "reports no ECC mode", remedyUnseen)
	default:
		v.fail(o, suspect, "ECC is "+gpu.ECC+", expected Enabled", remedyECCOn)
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
			v.miss(o, suspect, "reports no "+count.name+" uncorrectable error count", remedyUnseen)
		case *count.errors != 0:
			v.fail(o, suspect, fmt.Sprintf("%d uncorrectable ECC errors (%s), expected 0", *count.errors, count.name), remedyECC)
		}
	}
	g.judgeCorrected(v, o, suspect, gpu)
	for _, bad := range []struct {
		is   *bool
		what string
	}{
		{gpu.SRAMThresholdExceeded, "the SRAM error threshold is exceeded"},
		{gpu.ChannelRepairPending, "a memory channel repair is pending"},
		{gpu.TPCRepairPending, "a TPC repair is pending"},
	} {
		if bad.is != nil && *bad.is { // older drivers don't have these
			v.fail(o, suspect, bad.what, remedyECC)
		}
	}
	g.judgeRemap(v, o, suspect, gpu.Remap)
}

// judgeCorrected: errors that were corrected are no defect, but a storm of them is a
// memory on its way to one.
func (g *Gate) judgeCorrected(v *verdict, o check.Observation, suspect string, gpu nvidia.GPU) {
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
			v.miss(o, suspect, "reports no "+count.name+" correctable error count", remedyUnseen)
		case float64(*count.errors) > count.limit:
			v.fail(o, suspect, fmt.Sprintf("%d corrected ECC errors (%s), expected at most %.0f", *count.errors, count.name, count.limit), remedyECC)
		}
	}
}

func (g *Gate) judgeRemap(v *verdict, o check.Observation, suspect string, r *nvidia.RowRemap) {
	if r == nil || r.Pending == nil || r.Failure == nil || !counted(r.UncorrectableRows) || !counted(r.CorrectableRows) {
		v.miss(o, suspect, "reports no row remapping (pending, failure, correctable and uncorrectable rows)", remedyUnseen)
		return
	}
	if *r.Failure {
		v.fail(o, suspect, "a row remapping failed", remedyRMA)
	}
	if *r.Pending {
		v.fail(o, suspect, "a row remapping is pending", remedyRemap)
	}
	limit := g.profile.Node.MaxRemappedRows.Value
	if n := *r.UncorrectableRows; float64(n) > limit {
		v.fail(o, suspect, fmt.Sprintf("%d rows remapped after uncorrectable errors, expected at most %g", n, limit), remedyRMA)
	}
	if n := *r.CorrectableRows; float64(n) > limit {
		v.fail(o, suspect, fmt.Sprintf("%d rows remapped after corrected errors, expected at most %g", n, limit), remedyRMA)
	}
}

// counted says that there is a count, and one that can be.
func counted(n *int64) bool { return n != nil && *n >= 0 }
