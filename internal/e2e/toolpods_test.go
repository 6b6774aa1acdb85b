package e2e_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/e2e/binary"
	"github.com/firstlight/firstlight/internal/suite"
)

// TestToolsInPods: with a containerised driver the hosts have no nvidia-smi and dcgmi. Gate node
// passes through the GPU Operator's pods and keeps them as the origin of what it saw, finds a bad
// GPU through them, and is unobserved where neither host nor pod has a tool.
func TestToolsInPods(t *testing.T) {
	suite.Require(t, suite.All)
	sharedLab(t)
	add := func(args ...string) {
		t.Helper()
		program.Must(t, append(append([]string{"lab", "fault", "add"}, args...), "--name", labName)...)
	}
	add("driver-in-pods")
	defer program.Must(t, "lab", "fault", "clear", "--all", "--name", labName)

	a, r := accept(t, "--only", "node", "--evidence", t.TempDir())
	if r.Code != 0 || a.Verdict != "passed" {
		t.Fatalf("exit %d, %s: %s", r.Code, a.Verdict, a.verdicts())
	}
	for kind, want := range map[string]string{
		"nvidia-smi": "pod gpu-operator/nvidia-driver-daemonset-", "dcgmi-diag": "pod gpu-operator/nvidia-dcgm-",
		"nvidia-smi-load": "container nvidia-driver-ctr, image nvcr.io/nvidia/driver:", "host": "nvidia-smi topo -m: pod gpu-operator/", "dmesg": "host over SSH",
	} {
		if got := binary.Origins(t, a.Evidence, kind); len(got) != 4 || !strings.Contains(strings.Join(got, "\n"), want) {
			t.Errorf("%s came from %q, want %q", kind, got, want)
		}
	}
	page, err := os.ReadFile(filepath.Join(a.Evidence, "report.html"))
	if err != nil || !strings.Contains(string(page), "container nvidia-dcgm-ctr") {
		t.Errorf("the report does not name the container: %v", err)
	}
	replayed := program.Run(t.Context(), "evidence", "replay", a.Evidence)
	if replayed.Code != 0 {
		t.Errorf("replay exits %d: %s%s", replayed.Code, replayed.Stdout, replayed.Stderr)
	}
	if p := program.Run(t.Context(), "accept", "--preflight", "--only", "node", "--lab", labName); p.Code != 0 || !strings.Contains(p.Stdout, "runs in pod gpu-operator/nvidia-dcgm-") {
		t.Errorf("the preflight exits %d: %s", p.Code, p.Stdout)
	}

	add("ecc-uncorrectable", "gpu-02/gpu1")
	a, r = accept(t, "--only", "node", "--evidence", t.TempDir())
	if r.Code != 1 || len(a.Gates) == 0 || len(a.Gates[0].Findings) == 0 || a.Gates[0].Findings[0].Suspect != "gpu-02/gpu1" {
		t.Errorf("a bad GPU, seen through pods: exit %d, %s %+v", r.Code, a.verdicts(), a.Gates)
	}

	program.Must(t, "lab", "fault", "clear", "--all", "--name", labName)
	add("driver-in-pods", "gpu-03")
	add("tool-missing", "gpu-03")
	a, r = accept(t, "--only", "node", "--evidence", t.TempDir())
	if r.Code != 3 || !strings.Contains(r.Stdout, "executable file not found") {
		t.Errorf("a tool that is nowhere: exit %d, %s", r.Code, a.verdicts())
	}
}
