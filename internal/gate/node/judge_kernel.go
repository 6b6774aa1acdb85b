package node

import (
	"fmt"
	"slices"

	"github.com/firstlight/firstlight/internal/probe/nvidia"
)

// Classes of driver errors, as profiles name them.
const (
	classIsolate = "isolate"
	classReboot  = "reboot"
	classReset   = "reset"
	classMonitor = "monitor"
	classIgnore  = "ignore"
)

// judgeKernel classifies the driver's errors in the kernel log.
func (g *Gate) judgeKernel(v *verdict, h *host, at places) {
	if !h.kernel.ok() {
		return
	}
	if !h.kernel.fig.FromBoot {
		v.miss(h.kernel.obs, h.name, "its kernel log does not begin with the boot: the ring was cleared or has wrapped, and errors of before may be lost",
			"reboot the node, with a larger log_buf_len where the log wraps, then walk again: firstlight accept --from node")
	}
	for _, e := range h.kernel.fig.Events {
		if e.Kind == nvidia.KindSXid {
			g.judgeSwitch(v, h, e)
			continue
		}
		g.judgeXID(v, h, at, e)
	}
}

func (g *Gate) judgeXID(v *verdict, h *host, at places, e nvidia.XidEvent) {
	const clean = "; reboot afterwards, so that the kernel log begins clean"
	class := g.class(e.Code)
	suspect := at.gpu(h, e.PCI+".0")
	message := fmt.Sprintf("Xid %d (%s)%s on %s: %s", e.Code, class, times(e), e.PCI, e.Text)
	if e.Code == nvidia.XidRecoveryActionChanged && e.Action != nvidia.NoRecoveryAction {
		v.fail(h.kernel.obs, suspect, message, "drain the node and do what the driver asks for: "+e.Action+clean)
		return
	}
	switch class {
	case classIgnore:
	case classMonitor:
		v.note(h.kernel.obs, suspect, message, "no failure by itself: watch whether it comes back under load")
	case classReset:
		v.fail(h.kernel.obs, suspect, message, "drain the node and reset the GPU (nvidia-smi --gpu-reset)"+clean)
	case classReboot:
		v.fail(h.kernel.obs, suspect, message, "drain the node and power-cycle it; if it comes back, replace the GPU (RMA)"+clean)
	case classIsolate:
		v.fail(h.kernel.obs, suspect, message, "drain the node and take the GPU out of service: replace it (RMA)"+clean)
	default: // a class that the profile made up is no reason to pass
		v.fail(h.kernel.obs, suspect, message, "find the error code in NVIDIA's Xid catalogue and do what it says"+clean)
	}
}

// class of an error code by the profile; a code in no class is monitored.
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

func (g *Gate) judgeSwitch(v *verdict, h *host, e nvidia.XidEvent) {
	suspect := h.name + "/" + e.Device
	message := fmt.Sprintf("SXid %d%s: %s", e.Code, times(e), e.Text)
	if e.Fatal {
		v.fail(h.kernel.obs, suspect, message+" (fatal)", "drain the node, reset all GPUs and switches of it together or power-cycle it; if it comes back, replace the board")
		return
	}
	if e.Unclassified {
		v.miss(h.kernel.obs, suspect, message+" (no line says whether it is fatal)", "look up the code in NVIDIA's Fabric Manager guide; reboot the node, so that the kernel log begins clean, then run the gate again")
		return
	}
	v.note(h.kernel.obs, suspect, message+" (non-fatal)", "no failure by itself: watch whether it comes back under load")
}

// times says how often an event came, when it came again.
func times(e nvidia.XidEvent) string {
	if e.Count < 2 {
		return ""
	}
	return fmt.Sprintf(", %d times,", e.Count)
}
