package node

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/probe/nvidia"
)

// judgeDiag requires Pass of every required diagnostic on every GPU.
func (g *Gate) judgeDiag(b *check.Builder, h *host, at slots) {
	if !h.diag.ok() {
		return
	}
	o, f := h.diag.obs, h.diag.fig
	again := "check on the host that no other process uses the GPUs (nvidia-smi) and no diagnostic runs (pgrep -a nvvs), also none of an earlier run, then run the gate again"
	if h.partitioned() {
		again = remedyWholeGPUs
	}
	if f.Diag.RuntimeError != "" {
		b.Unobserved(o.ID, h.name, again, "dcgmi diag failed: %s", f.Diag.RuntimeError)
	}
	if f.Outcome == nvidia.DiagIncomplete {
		b.Unobserved(o.ID, h.name, again, "dcgmi diag did not complete: %s", f.Meaning)
	}
	required := g.profile.Node.RequiredDiagnostics[strconv.Itoa(f.Diag.Major)]
	if len(required) == 0 {
		b.Unobserved(o.ID, h.name, "add node.requiredDiagnostics for this DCGM to the profile", "the profile has no required diagnostics for DCGM %d", f.Diag.Major)
	}
	failures := 0
	for _, t := range f.Diag.Tests {
		if t.Status == nvidia.DiagFail {
			failures++
		}
	}
	for _, name := range required {
		i := slices.IndexFunc(f.Diag.Tests, func(t nvidia.DiagTest) bool { return t.Is(name) })
		switch {
		case i < 0:
			b.Unobserved(o.ID, h.name, g.remedyMissing(h, again), "required diagnostic %s is missing in the result", name)
		case f.Diag.Tests[i].Status == nvidia.DiagNotRun:
			b.Unobserved(o.ID, h.name, again, "required diagnostic %s was not run", name)
		default:
			g.judgeCoverage(b, h, f.Diag.Tests[i])
		}
	}
	for _, t := range f.Diag.Tests {
		if !t.Known() {
			b.Note(o.ID, h.name, "read about the test in the notes of this DCGM release", "dcgmi diag of DCGM %s ran %s, a test unknown to firstlight: %s", cmp.Or(f.Diag.Version, strconv.Itoa(f.Diag.Major)), t.Name, t.Status)
		}
	}
	g.judgeTests(b, h, at, required)
	// DCGM exits as for a failed test where the diagnostic did not run: DcgmDiagManager of NVIDIA/DCGM returns
	// DCGM_ST_NVVS_ERROR for a runtime error.
	if f.Outcome != nvidia.DiagCompleted && f.Outcome != nvidia.DiagIncomplete && failures == 0 && f.Diag.RuntimeError == "" {
		b.Fail(o.ID, h.name, "run dcgmi diag by hand and read its log (/var/log/nvidia-dcgm/nvvs.log)", "dcgmi reports that %s, but its document does not show which", f.Meaning)
	}
}

// remedyMissing is the remedy of a required test that the document does not have. From DCGM 4 on, the plugins that are not
// open source, memory_bandwidth among them, are in a package that is only recommended (NVIDIA/DCGM issue 67, dcgm-exporter
// pull request 456): an image without recommended packages lacks them. again is the remedy of a diagnostic that did not run.
func (g *Gate) remedyMissing(h *host, again string) string {
	f := h.diag.fig
	if f.Diag.RuntimeError != "" || f.Outcome == nvidia.DiagIncomplete || len(f.Diag.Tests) == 0 || f.Diag.Major < splitDCGM || h.partitioned() {
		return again
	}
	cuda := "NN (NN: the major version of the driver's CUDA)"
	if doc, ok := h.latest(); ok {
		if major, _, _ := strings.Cut(doc.log.CUDA, "."); major != "" {
			cuda = major
		}
	}
	return "install the plugins of the diagnostic on the host, which are packages that datacenter-gpu-manager-4 only recommends: datacenter-gpu-manager-4-proprietary, datacenter-gpu-manager-4-proprietary-cuda" + cuda +
		" and datacenter-gpu-manager-4-cuda" + cuda + "; restart nvidia-dcgm, then run the gate again"
}

// splitDCGM is the first major version of DCGM whose plugins are in several packages.
const splitDCGM = 4

// judgeCoverage requires that a test covered all GPUs. Results of DCGM 3 without an entity are of
// the whole node.
func (g *Gate) judgeCoverage(b *check.Builder, h *host, t nvidia.DiagTest) {
	want := g.gpus()
	if doc, ok := h.latest(); ok {
		want = min(want, len(doc.log.GPUs)) // missing GPUs are reported by judgeCount
	}
	ids := map[int]bool{}
	entities := false
	for _, r := range t.Results {
		entities = entities || r.ID != nil
		if r.ID != nil && r.Group == nvidia.DiagGroupGPU {
			ids[*r.ID] = true
		}
	}
	if entities && len(ids) < want || len(t.Results) == 0 {
		b.Unobserved(h.diag.obs.ID, h.name, "run dcgmi diag over all GPUs of the node, with none excluded", "diagnostic %s covered %d of %d GPUs", t.Name, len(ids), want)
	}
}
