package autoscale

import (
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/cli/clitest"
	"github.com/firstlight/firstlight/internal/cli/cmdutil"
)

func TestChainFlags(t *testing.T) {
	t.Setenv("FIRSTLIGHT_HOME", t.TempDir())
	for line, want := range map[string]string{
		"autoscale --metric resource": "external, custom",
		"autoscale --scheduler slurm": "default, kai",
		"autoscale --kubeconfig k":    "--site",
		"autoscale --site s --lab l":  "--site: stat s: no such file",
		"autoscale up":                "unknown command",
		"autoscale rules --window 0s": "--window",
		"autoscale --hop-timeout 0s":  "must be positive",
	} {
		_, stderr, code := clitest.Run(t, New, strings.Fields(line)...)
		if code != cmdutil.ExitUsage || !strings.Contains(stderr, want) {
			t.Errorf("%s exits %d: %s", line, code, stderr)
		}
	}
}

func TestRules(t *testing.T) {
	t.Parallel()
	out, stderr, code := clitest.Run(t, New, "autoscale", "rules", "--window", "30s")
	if code != cmdutil.ExitPassed || !strings.Contains(out, "dcgm_gpu_power_usage") || !strings.Contains(out, "[30s]") {
		t.Errorf("exit %d: %s%s", code, out, stderr)
	}
}
