package e2e_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/suite"
)

// TestDRAOnly: every gate passes on a cluster that offers GPUs through DRA alone, where the site declares
// it: their pods claim GPUs.
func TestDRAOnly(t *testing.T) {
	suite.Require(t, suite.All)
	acceptStack(t, "", "    deviceClass: gpu.nvidia.com\n", "dra-only", "cluster")
}

// TestMIG: gates node and gpustack pass on partitioned GPUs where the site declares them, by both
// strategies of the device plugin; the second proves the gang scheduler with MIG devices. Without the
// declaration the fault fails gate node (TestEveryFaultFailsItsGate).
func TestMIG(t *testing.T) {
	suite.Require(t, suite.All)
	for _, strategy := range []string{"single", "mixed"} {
		t.Run(strategy, func(t *testing.T) {
			for _, gate := range []string{"node", "gpustack"} {
				acceptStack(t, gate, "    mig: {strategy: "+strategy+", devices: {1g.10gb: 56}}\n", "mig-undeclared", "cluster", "--set", "strategy="+strategy)
			}
		})
	}
}

// acceptStack accepts one gate of the lab with a fault that the site's keys declare; "" is all gates.
func acceptStack(t *testing.T, gate, keys string, fault ...string) {
	t.Helper()
	sharedLab(t)
	labSite := program.Must(t, "lab", "site", "--name", labName).Stdout
	kubeconfig := strings.TrimSpace(program.Must(t, "lab", "kubeconfig", "--path", "--name", labName).Stdout)
	const block = "\ngpustack:\n"
	if strings.Count(labSite, block) != 1 {
		t.Fatalf("the lab's site has no block %s", block)
	}
	path := filepath.Join(t.TempDir(), "site.yaml")
	if err := os.WriteFile(path, []byte(strings.Replace(labSite, block, block+keys, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	program.Must(t, append(append([]string{"lab", "fault", "add"}, fault...), "--name", labName)...)
	defer program.Must(t, "lab", "fault", "clear", "--all", "--name", labName)
	args := []string{"accept", "-o", "json", "--site", path, "--kubeconfig", kubeconfig, "--evidence", t.TempDir()}
	want := allPassed
	if gate != "" {
		args, want = append(args, "--only", gate), gate+"=passed"
	}
	r := program.Run(t.Context(), args...)
	if a := decode(t, r); r.Code != 0 || a.verdicts() != want {
		t.Errorf("exit %d: %s\n%s%s", r.Code, a.verdicts(), r.Stdout, r.Stderr)
	}
}
