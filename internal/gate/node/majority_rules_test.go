package node_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/gate/node"
	"github.com/firstlight/firstlight/internal/plan"
	"github.com/firstlight/firstlight/internal/probe/nvidia"
)

// More than half of the GPUs decide which VBIOS is usual, also if it is only one more.
func TestANarrowMajorityDecidesTheVBIOS(t *testing.T) {
	t.Parallel()
	hosts := healthy(t, 2)
	for i := range gpusPerNode - 1 {
		hosts[1].gpu(i, func(g *nvidia.GPU) { g.VBIOS = "95.00" })
	}
	j := judge(t, hosts)
	if j.Verdict != check.Failed || len(j.Findings) != gpusPerNode-1 {
		t.Fatalf("%s: %d findings: %+v", j.Verdict, len(j.Findings), j.Findings)
	}
	for _, f := range j.Findings {
		if !strings.HasPrefix(f.Suspect, "gpu-02/") || !strings.Contains(f.Message, "expected 96.00 (most GPUs)") {
			t.Errorf("%s: %s", f.Suspect, f.Message)
		}
	}
}

// A GPU that fails a diagnostic skips the others for that reason: they have no finding of
// their own.
func TestSkippedDiagnosticsOfAFailedGPUHaveNoFinding(t *testing.T) {
	t.Parallel()
	hosts := healthy(t, 2)
	hosts[1].result("memory", 5, nvidia.DiagFail, nvidia.DiagWarning{Text: "bad memory", Severity: nvidia.SeverityIsolate})
	hosts[1].result("pcie", 5, nvidia.DiagSkip)
	hosts[1].Diag.Outcome = nvidia.DiagTestFailed
	j := judge(t, hosts)
	if j.Verdict != check.Failed || len(j.Findings) != 1 || j.Findings[0].Suspect != "gpu-02/gpu5" || strings.Contains(j.Findings[0].Message, "skipped") {
		t.Errorf("%s: %+v", j.Verdict, j.Findings)
	}
}

// A single required diagnostic on a single node is a figure, too.
func TestOneRequiredDiagnosticIsCounted(t *testing.T) {
	t.Parallel()
	hosts, p := healthy(t, 1), testProfile(t)
	p.Node.RequiredDiagnostics["4"] = p.Node.RequiredDiagnostics["4"][:1]
	j := plan.Judge(node.New(testSite(1), p, node.Deps{}), observations(t, hosts))
	if j.Verdict != check.Passed || !slices.ContainsFunc(j.Figures, func(f check.Figure) bool {
		return f.Name == "required diagnostics passed" && f.Value == 1 && f.Limit == 1
	}) {
		t.Errorf("%s: %s: %+v", j.Verdict, j.Reason, j.Figures)
	}
}
