package node

import (
	"fmt"
	"slices"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/probe/nvidia"
)

// The classes of driver errors in profiles.
const (
	classIsolate = "isolate"
	classReboot  = "reboot"
	classReset   = "reset"
	classMonitor = "monitor"
	classIgnore  = "ignore"
)

const remedyKernelRing = "give the node a larger kernel log (log_buf_len), find out what fills it or who clears it, or watch more often (--every)"

// clean ends the remedies of errors that stay in the kernel log.
const clean = "; reboot afterwards, so that the kernel log begins clean"

const remedySwitch = "drain the node, reset all GPUs and switches of it together or power-cycle it; if it recurs, replace the board"

// judgeKernel classifies the driver's errors in the kernel log.
func (g *Gate) judgeKernel(b *check.Builder, h *host, at slots) {
	if !h.kernel.ok() {
		return
	}
	log := h.kernel.fig
	switch {
	case g.lowLoad:
		log = judgeKernelRound(b, h)
	case !log.FromBoot:
		b.Unobserved(h.kernel.obs.ID, h.name,
			"reboot the node, with a larger log_buf_len where the log wraps, then run again: firstlight accept --from node",
			"its kernel log does not begin with the boot: the ring buffer was cleared or wrapped, and earlier errors may be lost")
	}
	for _, e := range log.Events {
		switch e.Kind {
		case nvidia.KindSXid:
			g.judgeSwitch(b, h, e)
		case nvidia.KindDriver: // a GPU that is still missing fails by its number
			b.Note(h.kernel.obs.ID, at.gpu(h, e.PCI+".0"), "not a failure by itself where the GPU answers: check whether it recurs after a reboot", "driver error%s on %s: %s", times(e), e.PCI, e.Text)
		default:
			g.judgeXID(b, h, at, e)
		}
	}
	for _, e := range log.Hardware {
		judgeHardware(b, h, at, e)
	}
}

// judgeKernelRound is the log with the errors of earlier rounds of a watch. The ring buffer of a node in
// use wraps: it need not begin with the boot, and must overlap the log of the previous round.
func judgeKernelRound(b *check.Builder, h *host) nvidia.XidLog {
	log := h.kernel.fig
	if !h.earlierKernel.ok() {
		if !log.FromBoot {
			b.Note(h.kernel.obs.ID, h.name, "", "its kernel log does not begin with the boot, and there is no earlier round: errors before it are unknown")
		}
		return log
	}
	switch log.Follows(h.earlierKernel.fig) {
	case nvidia.FromNewBoot, nvidia.Overlapping:
	case nvidia.Gap:
		b.Unobserved(h.kernel.obs.ID, h.name, remedyKernelRing, "its kernel log begins at %s s, after the end of that of the previous round (%s s): errors in between may be lost", log.First, h.earlierKernel.fig.Last)
	case nvidia.UnknownContinuity:
		b.Unobserved(h.kernel.obs.ID, h.name, remedyKernelRing, "its kernel log (%q to %q) does not continue that of the previous round (to %q): the node may have booted since, and errors may be lost", log.First, log.Last, h.earlierKernel.fig.Last)
	}
	return log.Since(h.earlierKernel.fig)
}

func (g *Gate) judgeXID(b *check.Builder, h *host, at slots, e nvidia.XidEvent) {
	class := g.class(e.Code)
	if e.Fatal && (class == classMonitor || class == classIgnore) {
		class = classReset // the code has errors of both kinds, and the line says which
	}
	suspect := at.gpu(h, e.PCI+".0")
	message := fmt.Sprintf("Xid %d (%s)%s on %s: %s", e.Code, class, times(e), e.PCI, e.Text)
	if e.Code == nvidia.XidRecoveryActionChanged && e.Action != nvidia.NoRecoveryAction {
		b.FailLasting(h.kernel.obs.ID, suspect, "drain the node and follow the driver's recovery action: "+e.Action+clean, "%s", message)
		return
	}
	if e.Unclassified {
		b.Unobserved(h.kernel.obs.ID, suspect, "look up the code in NVIDIA's Xid catalogue; reboot the node, so that the kernel log begins clean, then run the gate again", "%s (whether it is fatal is not logged)", message)
		return
	}
	switch class {
	case classIgnore:
	case classMonitor:
		b.Note(h.kernel.obs.ID, suspect, "not a failure by itself: check whether it recurs under load", "%s", message)
	case classReset:
		b.FailLasting(h.kernel.obs.ID, suspect, "drain the node and reset the GPU (nvidia-smi --gpu-reset)"+clean, "%s", message)
	case classReboot:
		b.FailLasting(h.kernel.obs.ID, suspect, "drain the node and power-cycle it; if it recurs, replace the GPU (RMA)"+clean, "%s", message)
	case classIsolate:
		b.FailLasting(h.kernel.obs.ID, suspect, "drain the node and take the GPU out of service: replace it (RMA)"+clean, "%s", message)
	default: // an unknown class of the profile fails
		b.FailLasting(h.kernel.obs.ID, suspect, "look up the error code in NVIDIA's Xid catalogue and follow its recommendation"+clean, "%s", message)
	}
}

// class is the profile's class of an error code; the default is monitor.
func (g *Gate) class(code int) string {
	for _, class := range []string{classIsolate, classReboot, classReset, classMonitor, classIgnore} {
		if slices.Contains(g.profile.Node.XIDs[class], code) {
			return class
		}
	}
	for class, codes := range g.profile.Node.XIDs {
		if slices.Contains(codes, code) {
			return class
		}
	}
	return classMonitor
}

func (g *Gate) judgeSwitch(b *check.Builder, h *host, e nvidia.XidEvent) {
	suspect := h.name + "/" + e.Device
	message := fmt.Sprintf("SXid %d%s: %s", e.Code, times(e), e.Text)
	if e.Fatal {
		b.FailLasting(h.kernel.obs.ID, suspect, remedySwitch, "%s (fatal)", message)
		return
	}
	if e.Unclassified {
		b.Unobserved(h.kernel.obs.ID, suspect, "look up the code in NVIDIA's Fabric Manager guide; reboot the node, so that the kernel log begins clean, then run the gate again", "%s (whether it is fatal is not logged)", message)
		return
	}
	if slices.Contains(g.profile.Node.ResetSXIDs, e.Code) {
		b.FailLasting(h.kernel.obs.ID, suspect, remedySwitch, "%s (non-fatal, and its recovery is a reset or a restart)", message)
		return
	}
	b.Note(h.kernel.obs.ID, suspect, "not a failure by itself: check whether it recurs under load", "%s (non-fatal)", message)
}

// times is the count of a repeated event.
func times(e nvidia.XidEvent) string {
	if e.Count < 2 {
		return ""
	}
	return fmt.Sprintf(", %d times,", e.Count)
}
