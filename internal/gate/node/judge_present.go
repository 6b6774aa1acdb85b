package node

import (
	"fmt"
	"slices"
	"strings"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/probe/nvidia"
)

const (
	remedyLost    = "drain the node and power-cycle it; if the GPU stays away, reseat or replace it (RMA)"
	remedyCount   = "check lspci and the kernel log for the missing GPU, power-cycle the node; if it stays away, replace it (RMA)"
	remedyDriver  = "unload and reload the driver, or reboot the node, so that kernel module and libraries are of one version"
	remedyProduct = "compare the node with its order: put the right GPU in, or correct the site's profile"
)

// judgePresent: every GPU of the profile answers.
func (g *Gate) judgePresent(v *verdict, h *host, at places) {
	if text, o := h.nvml(); text != "" {
		v.fail(o, h.name, "no GPU can be used: "+text, remedyDriver)
		return
	}
	var lost []string
	for _, s := range []seen[smiFigures]{h.before, h.after} {
		if !s.ok() {
			continue
		}
		for _, l := range s.fig.Trouble.Lost {
			lost = append(lost, l.BusID)
			v.fail(s.obs, at.gpu(h, l.BusID), strings.TrimSpace("GPU "+l.BusID)+" does not answer: "+l.Text, remedyLost)
		}
	}
	for _, doc := range h.documents() {
		g.judgeCount(v, h, at, doc, lost)
	}
}

// judgeCount compares how many there are, by the list and by the driver's count.
func (g *Gate) judgeCount(v *verdict, h *host, at places, doc document, lost []string) {
	want, got := g.gpus(), len(doc.log.GPUs)
	if got == want && doc.log.Attached == want {
		return
	}
	message := fmt.Sprintf("nvidia-smi lists %d GPUs (attached: %d), expected %d", got, doc.log.Attached, want)
	named := false
	for _, bus := range at.missing(doc.log) {
		named = true
		if slices.Contains(lost, bus) {
			continue // said already
		}
		v.fail(doc.obs, at.gpu(h, bus), fmt.Sprintf("the GPU at %s is not there: %s", bus, message), remedyCount)
	}
	if !named {
		v.fail(doc.obs, h.name, message, remedyCount)
	}
}

// judgeGPU holds one card against the profile.
func (g *Gate) judgeGPU(v *verdict, o check.Observation, suspect string, gpu nvidia.GPU) {
	if len(gpu.Errors) > 0 {
		v.fail(o, suspect, "gives no figures: "+strings.Join(gpu.Errors, ", "), remedyLost)
		return
	}
	if !slices.Contains(g.profile.GPU.Products, gpu.Product) {
		v.fail(o, suspect, fmt.Sprintf("is a %q, expected %s", gpu.Product, strings.Join(g.profile.GPU.Products, " or ")), remedyProduct)
	}
	want := g.profile.GPU.Memory.Value
	if m := gpu.MemoryTotalMiB; m == nil {
		v.miss(o, suspect, "reports no memory size", remedyUnseen)
	} else if float64(*m) < want {
		v.fail(o, suspect, fmt.Sprintf("has %d MiB of memory, expected at least %g MiB", *m, want), "drain the node and replace the GPU (RMA)")
	}
	g.judgeFabric(v, o, suspect, gpu)
	g.judgeMemory(v, o, suspect, gpu)
	g.judgeClocks(v, o, suspect, gpu)
	g.judgePower(v, o, suspect, gpu)
	g.judgePCIe(v, o, suspect, gpu)
	if a := gpu.RecoveryAction; a == "" {
		v.miss(o, suspect, "does not report whether it needs recovery", remedyUnseen)
	} else if a != "None" {
		v.fail(o, suspect, fmt.Sprintf("the driver asks for recovery: %q", a), "drain the node and do what the driver asks for: "+a)
	}
}

// judgeFabric: where GPUs are joined by NVSwitches, each has joined their fabric. Only
// those have a state: cards joined by bridges, and all before Hopper, print N/A. A profile
// says by its nvls that there are such switches.
func (g *Gate) judgeFabric(v *verdict, o check.Observation, suspect string, gpu nvidia.GPU) {
	state, status := gpu.FabricState, gpu.FabricStatus
	joined := g.nvlinks() && g.profile.Collective.NVLS
	switch {
	case state != "" && state != "Completed" || status != "" && status != "Success":
		v.fail(o, suspect, fmt.Sprintf("NVLink fabric state is %q, status %q, expected Completed and Success", state, status),
			"check nvidia-fabricmanager on the node (systemctl status, /var/log/fabricmanager.log) and restart it")
	case joined && (state == "" || status == ""):
		v.miss(o, suspect, fmt.Sprintf("reports the NVLink fabric state %q, status %q: whether it has joined is not known", state, status), remedyUnseen)
	}
	if bad := unhealthy(gpu.FabricHealth); bad != "" {
		v.fail(o, suspect, "NVLink fabric is not healthy: "+bad,
			"check nvidia-fabricmanager (/var/log/fabricmanager.log) and the NVLinks of the node and its switches (nvidia-smi nvlink -s -e); reset the GPUs of the node together")
	}
}
