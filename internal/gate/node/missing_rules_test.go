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

// The missing observations of a host are one finding, with the first of them. Commands that were
// not run because of it are not listed.
func TestMissingObservationsAreOneFinding(t *testing.T) {
	t.Parallel()
	hosts := healthy(t, 2)
	h := hosts[1]
	h.Broken["nvidia-smi"] = true
	for _, kind := range kinds[1:] {
		h.Gone[kind] = true
	}
	is := func(j check.Judgement, message, id string) {
		t.Helper()
		i := slices.IndexFunc(j.Findings, func(f check.Finding) bool { return f.Suspect == "gpu-02" })
		if j.Verdict != check.Unobserved || i < 0 || j.Findings[i].Message != message || !slices.Equal(j.Findings[i].Observations, []string{id}) {
			t.Errorf("%s: %+v", j.Verdict, j.Findings)
		}
	}
	is(judge(t, hosts), "was not observed: nvidia-smi on gpu-02: exited 1: no output", "nvidia-smi-gpu-02")
	delete(h.Gone, "dmesg")
	h.Broken["dmesg"] = true
	is(judge(t, hosts), "was not observed: nvidia-smi on gpu-02: exited 1: no output; dmesg on gpu-02: exited 1: no output", "nvidia-smi-gpu-02")
}

// GPUs without NVLinks have no error counters of links.
func TestGPUsWithoutNVLinks(t *testing.T) {
	t.Parallel()
	p := testProfile(t)
	p.GPU.NVLinks.Value = 0
	hosts := healthy(t, 2)
	for _, h := range hosts {
		h.Gone["nvidia-smi-nvlink-errors"], h.Gone["nvidia-smi-nvlink-errors-after"] = true, true
		h.Links.GPUs = []nvidia.NVLinks{}
	}
	if j := plan.Judge(node.New(testSite(2), p, node.Deps{}), observations(t, hosts)); j.Verdict != check.Passed {
		t.Errorf("%s: %s", j.Verdict, j.Reason)
	}
}

// The remedy of a diagnostic is that of its worst warning.
func TestTheRemedyOfADiagnosticIsOfItsWorstWarning(t *testing.T) {
	t.Parallel()
	order := []struct {
		severity int
		remedy   string
	}{
		{nvidia.SeverityMonitor, "cooling"}, {nvidia.SeverityConfig, "configuration"}, {nvidia.SeverityTriage, "dcgmi diag -r 3 on this GPU alone"},
		{nvidia.SeverityReset, "reset the GPU"}, {nvidia.SeverityIsolate, "out of service"},
	}
	for i, worst := range order {
		for _, lesser := range order[:i+1] {
			for _, warnings := range [][]int{{worst.severity, lesser.severity}, {lesser.severity, worst.severity}} {
				hosts := healthy(t, 2)
				hosts[1].result("memory", 5, nvidia.DiagFail, nvidia.DiagWarning{Text: "first", Severity: warnings[0]}, nvidia.DiagWarning{Text: "second", Severity: warnings[1]})
				hosts[1].Diag.Outcome = nvidia.DiagTestFailed
				j := judge(t, hosts)
				if j.Verdict != check.Failed || !strings.Contains(j.Findings[0].Remedy, worst.remedy) {
					t.Errorf("severities %v: %s", warnings, j.Findings[0].Remedy)
				}
			}
		}
	}
}

// A class of errors that the profile invents fails.
func TestAnUnknownClassOfErrorsFails(t *testing.T) {
	t.Parallel()
	p := testProfile(t)
	p.Node.XIDs = map[string][]int{"inspect": {7}}
	for code, want := range map[int]check.Verdict{7: check.Failed, 8: check.Passed} {
		hosts := healthy(t, 2)
		hosts[1].Kernel.Events = []nvidia.XidEvent{{Kind: nvidia.KindXid, Code: code, PCI: "0000:1e:00", Count: 1}}
		if j := plan.Judge(node.New(testSite(2), p, node.Deps{}), observations(t, hosts)); j.Verdict != want || len(j.Findings) != 1 || j.Findings[0].Suspect != "gpu-02/gpu3" {
			t.Errorf("Xid %d: %s: %+v", code, j.Verdict, j.Findings)
		}
	}
}

// A host with the name of a system node is that node.
func TestAHostWithTheNameOfASystemNode(t *testing.T) {
	t.Parallel()
	s := testSite(2)
	s.Inventory.SystemNodes = slices.Clone(s.Inventory.Nodes[:1])
	s.Inventory.SystemNodes[0].Name = "login-1.example.org"
	hosts := healthy(t, 2)
	hosts[0].Facts.Host.Name, hosts[1].Facts.Host.Name = "ip-10-0-0-1", "login-1"
	j := plan.Judge(node.New(s, testProfile(t), node.Deps{}), observations(t, hosts))
	if j.Verdict != check.Failed || len(j.Findings) != 1 || j.Findings[0].Suspect != "gpu-02" {
		t.Errorf("%s: %+v", j.Verdict, j.Findings)
	}
}

// Hosts without CPU frequency governors pass with a note.
func TestHostsWithoutGovernorsAreNoted(t *testing.T) {
	t.Parallel()
	hosts := healthy(t, 2)
	for _, h := range hosts {
		h.Facts.Host.Governors = nil
	}
	j := judge(t, hosts)
	if j.Verdict != check.Passed || len(j.Findings) != 1 || !strings.Contains(j.Findings[0].Message, "no host has CPU frequency governors") {
		t.Errorf("%s: %+v", j.Verdict, j.Findings)
	}
}

// A test that the document of DCGM 4 does not have is one whose plugin is not installed: running the diagnostic again, as the
// remedy of a diagnostic that did not run says, gives the same result.
func TestTheRemedyOfAMissingTestIsItsPackage(t *testing.T) {
	t.Parallel()
	const pack = "datacenter-gpu-manager-4-proprietary-cuda13 and"
	for name, tt := range map[string]struct {
		spoil    func(h *hostSeen)
		package4 bool
	}{
		"without the package": {func(*hostSeen) {}, true},
		"a test failed":       {func(h *hostSeen) { h.Diag.Outcome = nvidia.DiagTestFailed }, true},
		"another diagnostic":  {func(h *hostSeen) { h.Diag.Outcome = nvidia.DiagIncomplete }, false},
		"a runtime error":     {func(h *hostSeen) { h.Diag.Diag.RuntimeError = "The GPU is in use" }, false},
		"no test at all":      {func(h *hostSeen) { h.Diag.Diag.Tests = nil }, false},
	} {
		hosts := healthy(t, 2)
		h := hosts[1]
		h.Before.Log.CUDA, h.After.Log.CUDA = "13.0", "13.0"
		h.Diag.Diag.Tests = slices.DeleteFunc(h.Diag.Diag.Tests, func(d nvidia.DiagTest) bool { return d.Is("memory_bandwidth") })
		tt.spoil(h)
		found := false
		for _, f := range plan.Judge(node.New(testSite(2), testProfile(t), node.Deps{}), observations(t, hosts)).Findings {
			if strings.Contains(f.Message, "required diagnostic memory_bandwidth is missing") {
				found = true
				if strings.Contains(f.Remedy, pack) != tt.package4 {
					t.Errorf("%s: %s", name, f.Remedy)
				}
			}
		}
		if !found {
			t.Errorf("%s: no finding", name)
		}
	}
}
