package node

import (
	"fmt"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/probe/nvidia"
)

const remedyMIG = "drain the node and reset the GPU (nvidia-smi --gpu-reset), or set the mode back (nvidia-smi -mig 0 or 1)"

// judgeMIG requires that the MIG mode of a GPU is in effect. A GPU that cannot be partitioned has
// none. Its MIG devices must have no uncorrectable error.
func (g *Gate) judgeMIG(b *check.Builder, o check.Observation, suspect string, m *nvidia.MIG) {
	switch {
	case m == nil:
	case m.Enabled == nil || m.Pending == nil:
		b.Unobserved(o.ID, suspect, remedyUnobserved, "reports a part of its MIG mode: whether it changes with the next reset is unknown")
	case *m.Enabled != *m.Pending:
		b.Fail(o.ID, suspect, remedyMIG, "MIG is %s, and %s after the next reset", mode(*m.Enabled), mode(*m.Pending))
	}
	if m == nil {
		return
	}
	for _, d := range m.Devices { // some drivers count the errors of a partitioned GPU only here
		if n := d.SRAMUncorrectable; n != nil && *n != 0 {
			b.FailLasting(o.ID, suspect, remedyECC, "%d uncorrectable ECC errors (%s), expected 0", *n, instanceText(d))
		}
	}
}

func instanceText(d nvidia.MIGDevice) string {
	if d.GPUInstance == nil {
		return "a MIG device"
	}
	return fmt.Sprintf("GPU instance %d", *d.GPUInstance)
}

func mode(enabled bool) string {
	if enabled {
		return "enabled"
	}
	return "disabled"
}
