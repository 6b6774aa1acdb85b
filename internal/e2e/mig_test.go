package e2e_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/e2e/binary"
	"github.com/firstlight/firstlight/internal/suite"
)

// TestDRAOnly: every gate passes on a cluster that offers GPUs through DRA alone, where the site declares
// it: their pods claim GPUs.
func TestDRAOnly(t *testing.T) {
	suite.Require(t, suite.All)
	acceptStack(t, "", "    deviceClass: gpu.nvidia.com\n", "dra-only", "cluster")
}

// TestMIG: gate gpustack passes on partitioned GPUs where the site declares them, by both strategies of the
// device plugin, and proves the gang scheduler with MIG devices. Gate node is unobserved: the diagnostic
// needs whole GPUs. Without the declaration the fault fails gate node (TestEveryFaultFailsItsGate).
func TestMIG(t *testing.T) {
	suite.Require(t, suite.All)
	for _, strategy := range []string{"single", "mixed"} {
		t.Run(strategy, func(t *testing.T) {
			keys, fault := "    mig: {strategy: "+strategy+", devices: {1g.10gb: 56}}\n", []string{"mig-undeclared", "cluster", "--set", "strategy=" + strategy}
			acceptStack(t, "gpustack", keys, fault...)
			r := runStack(t, "node", keys, fault...)
			if a := decode(t, r); r.Code != 3 || a.verdicts() != "node=unobserved" || !strings.Contains(r.Stdout, "dcgmi diag needs whole GPUs") {
				t.Errorf("gate node: exit %d: %s\n%s%s", r.Code, a.verdicts(), r.Stdout, r.Stderr)
			}
		})
	}
}

// TestPluginOnly: gate gpustack passes on a cluster without a DRA driver, where the site declares that, and
// fails with the same declaration where the DRA driver alone offers the GPUs.
func TestPluginOnly(t *testing.T) {
	suite.Require(t, suite.All)
	const keys = "    draDriver: none\n"
	acceptStack(t, "gpustack", keys, "plugin-only", "cluster")
	r := runStack(t, "gpustack", keys, "dra-only", "cluster")
	if a := decode(t, r); r.Code != 1 || a.verdicts() != "gpustack=failed" || len(a.Gates[0].Findings) == 0 || a.Gates[0].Findings[0].Suspect != "gpu-01/nvidia.com/gpu" {
		t.Errorf("without a device plugin: exit %d: %s\n%s%s", r.Code, a.verdicts(), r.Stdout, r.Stderr)
	}
}

// acceptStack requires that one gate of the lab passes with a fault that the site's keys declare; "" is all gates.
func acceptStack(t *testing.T, gate, keys string, fault ...string) {
	t.Helper()
	want := allPassed
	if gate != "" {
		want = gate + "=passed"
	}
	r := runStack(t, gate, keys, fault...)
	if a := decode(t, r); r.Code != 0 || a.verdicts() != want {
		t.Errorf("exit %d: %s\n%s%s", r.Code, a.verdicts(), r.Stdout, r.Stderr)
	}
}

// runStack accepts one gate of the lab with a fault, and with keys of gpustack in the site; "" is all gates.
func runStack(t *testing.T, gate, keys string, fault ...string) binary.Result {
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
	if gate != "" {
		args = append(args, "--only", gate)
	}
	return program.Run(t.Context(), args...)
}
