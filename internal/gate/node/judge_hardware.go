package node

import (
	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/probe/nvidia"
)

// hardwareRemedies are those of errors of the host's own hardware, by kind.
var hardwareRemedies = map[string]string{
	nvidia.KindMemory:    "drain the node and replace the DIMM that the line or the BMC's log names, or the board if its memory is soldered",
	nvidia.KindProcessor: "drain the node, find the part in the BMC's log and replace it",
	nvidia.KindPCIe:      "drain the node, reseat the device and its riser or cable; if it recurs, replace the device",
	nvidia.KindAdapter:   "drain the node, power-cycle it and update the firmware of the adapter; if it recurs, replace the adapter",
	nvidia.KindDriver:    "drain the node and reset its GPUs (nvidia-smi --gpu-reset), or reboot it",
	nvidia.KindDrive:     "drain the node, replace the drive and check its file systems",
}

// judgeHardware fails an error of the host's hardware that was not corrected. Corrected errors, devices that
// recovered and hung tasks are notes.
func judgeHardware(b *check.Builder, h *host, at slots, e nvidia.XidEvent) {
	suspect := at.gpu(h, e.PCI+".0")
	if e.Fatal {
		b.FailLasting(h.kernel.obs.ID, suspect, hardwareRemedies[e.Kind]+clean, "%s error%s of the host: %s", e.Kind, times(e), e.Text)
		return
	}
	b.Note(h.kernel.obs.ID, suspect, "not a failure by itself: check whether it recurs under load", "%s error%s of the host: %s", e.Kind, times(e), e.Text)
}
