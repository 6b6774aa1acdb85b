package node

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/firstlight/firstlight/internal/probe/nvidia"
)

// judgeDiag: every required diagnostic says Pass, on every GPU.
func (g *Gate) judgeDiag(v *verdict, h *host, at places) {
	if !h.diag.ok() {
		return
	}
	o, f := h.diag.obs, h.diag.fig
	const again = "see that nothing else uses the GPUs or runs a diagnostic, then run the gate again"
	if f.Diag.RuntimeError != "" {
		v.miss(o, h.name, "dcgmi diag could not do its work: "+f.Diag.RuntimeError, again)
	}
	if f.Outcome == nvidia.DiagIncomplete {
		v.miss(o, h.name, "dcgmi diag did not complete: "+f.Meaning, again)
	}
	required := g.profile.Node.RequiredDiagnostics[strconv.Itoa(f.Diag.Major)]
	if len(required) == 0 {
		v.miss(o, h.name, fmt.Sprintf("the profile names no required diagnostics for DCGM %d", f.Diag.Major), "add node.requiredDiagnostics for this DCGM to the profile")
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
			v.miss(o, h.name, "required diagnostic "+name+" is not in the result", again)
		case f.Diag.Tests[i].Status == nvidia.DiagNotRun:
			v.miss(o, h.name, "required diagnostic "+name+" was not run", again)
		default:
			g.judgeCoverage(v, h, f.Diag.Tests[i])
		}
	}
	g.judgeTests(v, h, at, required)
	if f.Outcome != nvidia.DiagCompleted && f.Outcome != nvidia.DiagIncomplete && failures == 0 {
		v.fail(o, h.name, "dcgmi says that "+f.Meaning+", and its document doesn't show which", "run dcgmi diag by hand and read its log (/var/log/nvidia-dcgm/nvvs.log)")
	}
}

// judgeCoverage: a test that looks at GPUs has looked at all of them.
func (g *Gate) judgeCoverage(v *verdict, h *host, t nvidia.DiagTest) {
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
		v.miss(h.diag.obs, h.name, fmt.Sprintf("diagnostic %s looked at %d of %d GPUs", t.Name, len(ids), want), "run dcgmi diag over all GPUs of the node, with none excluded")
	}
}
