package validate_test

import (
	"os"
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/suite"
)

// TestShapes validates clusters that offer GPUs in one way: through the device plugin, without a DRA
// driver, and through DRA, without a device plugin. Every requirement with a GPU requests it the way
// that the cluster offers. A requirement of the other way is not applicable, with the reason. A site
// that does not declare its shape does not pass.
func TestShapes(t *testing.T) {
	suite.Require(t, suite.All)
	const name, recipe = "shapes", "service=kind,accelerator=h100,intent=training"
	lab(t, name, "--nodes", "2", "--with", "adapter,gateway")
	if r := program.Run(t.Context(), "lab", "install", recipe, "--name", name); r.Code != 0 {
		t.Fatalf("lab install exited %d: %s", r.Code, r.Stderr)
	}
	config := kubeconfig(t, name)
	const autoscaler = "Karpenter simulates pods with claims without their devices, and orders no GPU node for them"
	for _, shape := range []struct {
		fault, key   string
		inapplicable map[string]string // reasons by check
		args         []string
		undeclared   string // check that is not passed without the key
	}{
		{
			fault: "plugin-only", key: "draDriver: none", undeclared: "dra_support",
			inapplicable: map[string]string{"dra_support": "gpustack.draDriver: none"},
		},
		{
			fault: "dra-only", key: "deviceClass: gpu.nvidia.com", undeclared: "accelerator_metrics",
			inapplicable: map[string]string{"cluster_autoscaling": autoscaler},
			args:         []string{"--not-applicable", "cluster_autoscaling=" + autoscaler},
		},
	} {
		t.Run(shape.fault, func(t *testing.T) {
			program.Must(t, "lab", "fault", "add", shape.fault, "cluster", "--name", name)
			defer program.Must(t, "lab", "fault", "clear", "--all", "--name", name)
			site := t.TempDir() + "/site.yaml"
			text := program.Must(t, "lab", "site", "--name", name).Stdout
			const block = "\ngpustack:\n"
			if strings.Count(text, block) != 1 {
				t.Fatalf("the lab's site has no block %s", block)
			}
			declared := strings.Replace(text, block, block+"    "+shape.key+"\n", 1)
			run := func(text string, code int, args ...string) report {
				t.Helper()
				if err := os.WriteFile(site, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
				r, _ := validate(t, code, append([]string{"--site", site, "--kubeconfig", config, "--recipe", recipe, "--disruptive"}, args...)...)
				return r
			}
			whole := run(declared, 3, append(shape.args, "--intent", "training")...)
			checks := 0
			for _, s := range whole.Steps {
				for _, c := range s.Checks {
					checks++
					reason, inapplicable := shape.inapplicable[c.Gate]
					// The test cannot kill a program on the API server's host.
					half := c.Gate == "robust_controller" && strings.HasPrefix(c.Reason, "partially shown: ")
					switch {
					case inapplicable && (c.Verdict != "not-applicable" || !strings.Contains(c.Reason, reason)):
						t.Errorf("%s is %s, want not-applicable because of %q: %s", c.Gate, c.Verdict, reason, c.Reason)
					case !inapplicable && !half && c.Verdict != "passed":
						t.Errorf("%s is %s: %s %+v", c.Gate, c.Verdict, c.Reason, c.Findings)
					}
				}
			}
			if checks < 14 {
				t.Errorf("%d checks", checks)
			}
			code := map[string]int{"dra_support": 1, "accelerator_metrics": 3}[shape.undeclared]
			run(text, code, "--step", shape.undeclared)
		})
	}
}
