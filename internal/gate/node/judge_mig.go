package node

import (
	"fmt"
	"slices"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/probe/nvidia"
)

const remedyWholeGPUs = "accept the GPUs before they are partitioned: dcgmi diag needs whole GPUs. Switch MIG off (nvidia-smi -mig 0), leave gpustack.mig out of the site and run this gate; then partition them and run gate gpustack"

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

// partitioned reports whether a GPU of the host is in MIG mode.
func (h *host) partitioned() bool {
	doc, ok := h.latest()
	return ok && slices.ContainsFunc(doc.log.GPUs, func(gpu nvidia.GPU) bool { return gpu.MIG.On() })
}

// linksOff reports whether MIG mode explains that no NVLink of a GPU is active: before Hopper it switches them off, and
// they "stay active during MIG mode" on HGX H100 and later (NVIDIA Fabric Manager User Guide, Interoperability With MIG).
// collective.nvls of a profile declares the latter.
func (g *Gate) linksOff(h *host, links nvidia.NVLinks) bool {
	doc, ok := h.latest()
	return ok && !g.profile.Collective.NVLS && !slices.ContainsFunc(links.Links, func(l nvidia.NVLink) bool { return l.Active }) &&
		slices.ContainsFunc(doc.log.GPUs, func(gpu nvidia.GPU) bool { return gpu.UUID == links.UUID && gpu.MIG.On() })
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
