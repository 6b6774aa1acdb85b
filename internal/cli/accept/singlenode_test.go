package accept

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/cli/clitest"
	"github.com/firstlight/firstlight/internal/cli/cmdutil"
	"github.com/firstlight/firstlight/internal/evidence"
	"github.com/firstlight/firstlight/internal/profile"
	"github.com/firstlight/firstlight/internal/site"
	"github.com/firstlight/firstlight/internal/world"
	"github.com/firstlight/firstlight/internal/world/host"
)

// withoutGPU makes this machine one without nvidia-smi.
func withoutGPU(t *testing.T) {
	t.Helper()
	t.Setenv("FIRSTLIGHT_HOME", t.TempDir())
	t.Setenv("PATH", t.TempDir())
}

// withGPU makes this machine one whose nvidia-smi lists the GPU of a machine of the world, and which has no
// other program.
func withGPU(t *testing.T) {
	t.Helper()
	withoutGPU(t)
	spec, err := world.SpecOf("a3-highgpu-1g", 1)
	if err != nil {
		t.Fatal(err)
	}
	w, err := world.New(spec)
	if err != nil {
		t.Fatal(err)
	}
	document, _, _ := host.Run(t.Context(), w.State(), spec.GPUNodes[0].Name, []string{"nvidia-smi", "-q", "-x"})
	dir := os.Getenv("PATH")
	script := fmt.Sprintf("#!/bin/sh\nwhile IFS= read -r line; do echo \"$line\"; done <%s\n", filepath.Join(dir, "document"))
	for name, text := range map[string]string{"document": string(document), "nvidia-smi": script} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
}

// On a machine without a GPU no run begins, and the exit code is that of not observed.
func TestAcceptWithoutGPU(t *testing.T) {
	withoutGPU(t)
	runs := filepath.Join(t.TempDir(), "evidence")
	_, stderr, code := clitest.Run(t, New, "accept", "--spine", "single-node", "--evidence", runs)
	if code != cmdutil.ExitUnobserved || !strings.Contains(stderr, "no GPU on this machine: nvidia-smi not found") {
		t.Errorf("exit %d: %s", code, stderr)
	}
	if _, err := os.Stat(runs); err == nil {
		t.Error("a run began")
	}
}

// A machine with a GPU is observed without a site file. Gate node lacks DCGM.
func TestAcceptThisMachine(t *testing.T) {
	withGPU(t)
	runs := filepath.Join(t.TempDir(), "evidence")
	out, stderr, code := clitest.Run(t, New, "accept", "--spine", "single-node", "--evidence", runs)
	if code != cmdutil.ExitUnobserved || !strings.Contains(out, "spine single-node: one GPU has no other to reach") || !strings.Contains(out, "not observed") {
		t.Fatalf("exit %d: %s%s", code, out, stderr)
	}
	ids, err := evidence.List(runs)
	if err != nil || len(ids) != 1 {
		t.Fatal(ids, err)
	}
	b, err := evidence.Load(filepath.Join(runs, ids[0]))
	if err != nil {
		t.Fatal(err)
	}
	if b.Header.Profile != "a3-highgpu-1g" || !strings.Contains(string(b.Site), "spine: single-node") {
		t.Errorf("%+v: %s", b.Header, b.Site)
	}
	observed := false
	for _, r := range b.Results() {
		for _, id := range r.Observations {
			obs, err := b.Observations([]string{id})
			if err != nil {
				t.Fatal(err)
			}
			observed = observed || obs[0].Kind == "nvidia-smi" && strings.Contains(string(obs[0].Figures), "NVIDIA H100 80GB HBM3") && obs[0].Origin == "this machine"
		}
	}
	if !observed {
		t.Error("no observation shows the GPU")
	}
}

// A plan needs no GPU: that of an example is printed.
func TestPlanOfThisMachine(t *testing.T) {
	withoutGPU(t)
	out, stderr, code := clitest.Run(t, NewPlan, "plan", "--spine", "single-node")
	if code != cmdutil.ExitPassed || !strings.Contains(stderr, "no GPU on this machine") || !strings.Contains(stderr, "the plan of an example, profile h100-sxm") ||
		!strings.Contains(out, "all_reduce_perf -b 8M -e 16G -f 2 -g 8, 3 times") || !strings.Contains(out, "not applicable: spine single-node: no Kubernetes") {
		t.Errorf("exit %d: %s%s", code, out, stderr)
	}
	withGPU(t)
	out, stderr, code = clitest.Run(t, NewPlan, "plan", "--spine", "single-node")
	if code != cmdutil.ExitPassed || stderr != "" || !strings.Contains(out, "a3-highgpu-1g") || strings.Contains(out, "all_reduce_perf") {
		t.Errorf("exit %d: %s%s", code, out, stderr)
	}
}

// Flags of clusters, other spines and sites of other machines are invalid input.
func TestSingleNodeUsage(t *testing.T) {
	withoutGPU(t)
	p, err := profile.Load("h100-sxm")
	if err != nil {
		t.Fatal(err)
	}
	name, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	own, other := filepath.Join(t.TempDir(), "own.yaml"), filepath.Join(t.TempDir(), "other.yaml")
	for path, host := range map[string]string{own: name, other: "another-" + name} {
		if err := os.WriteFile(path, site.SingleNodeFile(host, p), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for line, want := range map[string]string{
		"accept --spine nomad":                        `unknown --spine "nomad": want single-node`,
		"accept --spine single-node --lab x":          "none of the others can be",
		"accept --spine single-node --site " + own:    "without a site file: remove --spine, or --site",
		"accept --spine single-node --namespace x":    "none of the others can be",
		"accept --site " + own + " --namespace x":     "--namespace needs a Kubernetes cluster",
		"accept --site " + own + " --preflight":       "--preflight needs a Kubernetes cluster",
		"accept --site " + own + " --kubeconfig x":    "remove --kubeconfig",
		"accept --site " + other:                      "this machine is " + name,
		"accept rbac --site " + own:                   "needs no roles",
		"accept sudoers --site " + own + " --user me": "become of the site is not sudo",
	} {
		if _, stderr, code := clitest.Run(t, New, strings.Fields(line)...); code != cmdutil.ExitUsage || !strings.Contains(stderr, want) {
			t.Errorf("%s exits %d: %s, want %q", line, code, stderr, want)
		}
	}
	if _, stderr, code := clitest.Run(t, NewPlan, "plan", "--spine", "nomad"); code != cmdutil.ExitUsage || !strings.Contains(stderr, `unknown --spine "nomad"`) {
		t.Errorf("exit %d: %s", code, stderr)
	}
	if _, err := (&cmdutil.TargetFlags{Site: own}).Open(t.Context(), nil); cmdutil.ExitCode(err) != cmdutil.ExitUsage || !strings.Contains(err.Error(), "has no Kubernetes cluster, which this command needs") {
		t.Errorf("a command of clusters: %v", err)
	}
}
