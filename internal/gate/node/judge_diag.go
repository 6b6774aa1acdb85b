package node

import (
	"slices"
	"strconv"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/probe/nvidia"
)

// judgeDiag: every required diagnostic says Pass, on every GPU.
func (g *Gate) judgeDiag(b *check.Builder, h *host, at slots) {
	if !h.diag.ok() {
		return
	}
	o, f := h.diag.obs, h.diag.fig
	const again = "see that nothing else uses the GPUs or runs a diagnostic, then run the gate again"
	if f.Diag.RuntimeError != "" {
		b.Unobserved(o.ID, h.name, again, "dcgmi diag could not do its work: %s", f.Diag.RuntimeError)
	}
	if f.Outcome == nvidia.DiagIncomplete {
		b.Unobserved(o.ID, h.name, again, "dcgmi diag did not complete: %s", f.Meaning)
	}
	required := g.profile.Node.RequiredDiagnostics[strconv.Itoa(f.Diag.Major)]
	if len(required) == 0 {
		b.Unobserved(o.ID, h.name, "add node.requiredDiagnostics for this DCGM to the profile", "the profile names no required diagnostics for DCGM %d", f.Diag.Major)
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
			b.Unobserved(o.ID, h.name, again, "required diagnostic %s is not in the result", name)
		case f.Diag.Tests[i].Status == nvidia.DiagNotRun:
			b.Unobserved(o.ID, h.name, again, "required diagnostic %s was not run", name)
		default:
			g.judgeCoverage(b, h, f.Diag.Tests[i])
		}
	}
	g.judgeTests(b, h, at, required)
	if f.Outcome != nvidia.DiagCompleted && f.Outcome != nvidia.DiagIncomplete && failures == 0 {
		b.Fail(o.ID, h.name, "run dcgmi diag by hand and read its log (/var/log/nvidia-dcgm/nvvs.log)", "dcgmi says that %s, and its document doesn't show which", f.Meaning)
	}
}

// judgeCoverage: a test that looks at GPUs has looked at all of them.
func (g *Gate) judgeCoverage(b *check.Builder, h *host, t nvidia.DiagTest) {
	want := g.gpus()
	if doc, ok := h.latest(); ok {
		want = min(want, len(doc.log.GPUs)) // a GPU too few has been said
	}
	ids := map[int]bool{}
	for _, r := range t.Results {
		if r.ID != nil && r.Group == nvidia.DiagGroupGPU {
			ids[*r.ID] = true
		}
	}
	if len(ids) > 0 && len(ids) < want || len(t.Results) == 0 {
		b.Unobserved(h.diag.obs.ID, h.name, "run dcgmi diag over all GPUs of the node, with none excluded", "diagnostic %s looked at %d of %d GPUs", t.Name, len(ids), want)
	}
}
