package node

import (
	"fmt"
	"slices"
	"strings"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/probe/nvidia"
)

const (
	remedyLost    = "drain the node and power-cycle it; if the GPU stays missing, reseat or replace it (RMA)"
	remedyCount   = "check lspci and the kernel log for the missing GPU, power-cycle the node; if it stays missing, replace it (RMA)"
	remedyDriver  = "unload and reload the driver, or reboot the node, so that kernel module and libraries are of one version"
	remedyFaulty  = "drain the node and shut it down; check the power cables of the GPU; if nvidia-smi still warns, replace the GPU (RMA)"
	remedyLicense = "configure the licence client of the virtual machine (nvidia-gridd, /etc/nvidia/gridd.conf, the client token) and its path to the licence server"
	remedyProduct = "compare the node with its order: install the right GPU, or correct the site's profile"
)

// judgePresent requires that every GPU of the profile answers.
func (g *Gate) judgePresent(b *check.Builder, h *host, at slots) {
	if text, o := h.nvml(); text != "" {
		b.Fail(o.ID, h.name, remedyDriver, "no GPU can be used: %s", text)
		return
	}
	var lost []string
	for _, s := range []observed[smiFigures]{h.before, h.after} {
		if !s.ok() {
			continue
		}
		for _, l := range s.fig.Trouble.Lost {
			lost = append(lost, l.BusID)
			b.FailLasting(s.obs.ID, at.gpu(h, l.BusID), remedyLost, "%s does not answer: %s", strings.TrimSpace("GPU "+l.BusID), l.Text)
		}
		for _, l := range s.fig.Trouble.Faulty {
			b.FailLasting(s.obs.ID, at.gpu(h, l.BusID), remedyFaulty, "nvidia-smi warns: %s", l.Text)
		}
	}
	for _, doc := range h.documents() {
		g.judgeCount(b, h, at, doc, lost)
	}
}

// judgeCount judges the number of GPUs in the list and the driver's count.
func (g *Gate) judgeCount(b *check.Builder, h *host, at slots, doc document, lost []string) {
	want, got := g.gpus(), len(doc.log.GPUs)
	if got == want && doc.log.Attached == want {
		return
	}
	message := fmt.Sprintf("nvidia-smi lists %d GPUs (attached: %d), expected %d", got, doc.log.Attached, want)
	named := false
	for _, bus := range at.missing(doc.log) {
		named = true
		if slices.Contains(lost, bus) {
			continue // reported by judgePresent
		}
		b.FailLasting(doc.obs.ID, at.gpu(h, bus), remedyCount, "the GPU at %s is missing: %s", bus, message)
	}
	if !named {
		b.FailLasting(doc.obs.ID, h.name, remedyCount, "%s", message)
	}
}

// judgeGPU compares one card with the profile.
func (g *Gate) judgeGPU(b *check.Builder, o check.Observation, suspect string, gpu nvidia.GPU) {
	if len(gpu.Errors) > 0 {
		b.Fail(o.ID, suspect, remedyLost, "reports errors instead of figures: %s", strings.Join(gpu.Errors, ", "))
		return
	}
	if !slices.Contains(g.profile.GPU.Products, gpu.Product) {
		b.Fail(o.ID, suspect, remedyProduct, "is a %q, expected %s", gpu.Product, strings.Join(g.profile.GPU.Products, " or "))
	}
	want := g.profile.GPU.Memory.Value
	if m := gpu.MemoryTotalMiB; m == nil {
		b.Unobserved(o.ID, suspect, remedyUnobserved, "reports no memory size")
	} else if float64(*m) < want {
		b.Fail(o.ID, suspect, "drain the node and replace the GPU (RMA)", "has %d MiB of memory, expected at least %g MiB", *m, want)
	}
	g.judgeFabric(b, o, suspect, gpu)
	g.judgeMemory(b, o, suspect, gpu)
	g.judgeClocks(b, o, suspect, gpu)
	g.judgePower(b, o, suspect, gpu)
	g.judgePCIe(b, o, suspect, gpu)
	g.judgeTemperature(b, o, suspect, gpu)
	g.judgeMIG(b, o, suspect, gpu.MIG)
	if l := gpu.License; l != "" && !strings.HasPrefix(l, "Licensed") {
		b.Fail(o.ID, suspect, remedyLicense, "the licence of its vGPU is %q, expected Licensed: an unlicensed vGPU is slowed down", l)
	}
	if a := gpu.RecoveryAction; a == "" {
		b.Unobserved(o.ID, suspect, remedyUnobserved, "does not report whether it needs recovery")
	} else if a != "None" {
		b.FailLasting(o.ID, suspect, "drain the node and follow the driver's recovery action: "+a, "the driver requests recovery: %q", a)
	}
}

// judgeFabric requires that each GPU behind NVSwitches has joined their fabric. Only those
// have a state: cards with bridges, and all before Hopper, print N/A. collective.nvls of a
// profile declares NVSwitches.
func (g *Gate) judgeFabric(b *check.Builder, o check.Observation, suspect string, gpu nvidia.GPU) {
	state, status := gpu.FabricState, gpu.FabricStatus
	joined := g.nvlinks() && g.profile.Collective.NVLS
	switch {
	case state != "" && state != "Completed" || status != "" && status != "Success":
		b.Fail(o.ID, suspect, "check nvidia-fabricmanager on the node (systemctl status, /var/log/fabricmanager.log) and restart it", "NVLink fabric state is %q, status %q, expected Completed and Success", state, status)
	case joined && (state == "" || status == ""):
		b.Unobserved(o.ID, suspect, remedyUnobserved, "reports the NVLink fabric state %q, status %q: whether it has joined is unknown", state, status)
	}
	if bad := unhealthy(gpu.FabricHealth); bad != "" {
		b.Fail(o.ID, suspect, "check nvidia-fabricmanager (/var/log/fabricmanager.log) and the NVLinks of the node and its switches (nvidia-smi nvlink -s -e); reset the GPUs of the node together", "NVLink fabric is not healthy: %s", bad)
	}
	if unknown := unknownHealth(gpu.FabricHealth); unknown != "" {
		b.Note(o.ID, suspect, "read about the element in the notes of this driver release", "the driver reports elements of the NVLink fabric's health that are unknown to firstlight: %s", unknown)
	}
}
