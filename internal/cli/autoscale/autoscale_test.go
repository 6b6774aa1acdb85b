package autoscale

import (
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/cli/cmdutil"
)

func TestChainFlags(t *testing.T) {
	t.Setenv("FIRSTLIGHT_HOME", t.TempDir())
	for line, want := range map[string]string{
		"autoscale --metric resource":           "external, custom",
		"autoscale --scheduler slurm":           "default, kai",
		"autoscale --kubeconfig k":              "--site",
		"autoscale --site s --lab l":            "none of the others can be",
		"autoscale up":                          "unknown command",
		"autoscale rules --window 0s":           "--window",
		"accept --include autoscal":             "there is autoscale",
		"accept --include autoscale,autoscale":  "twice",
		"accept --only autoscale":               "there is no gate",
		"accept --resume x --include autoscale": "none of the others can be",
		"plan --include autoscal":               "autoscale",
	} {
		_, stderr, code := run(t, strings.Fields(line)...)
		if code != cmdutil.ExitUsage || !strings.Contains(stderr, want) {
			t.Errorf("%s exits %d: %s", line, code, stderr)
		}
	}
}

func TestRules(t *testing.T) {
	t.Parallel()
	out, stderr, code := run(t, "autoscale", "rules", "--window", "30s")
	if code != cmdutil.ExitPassed || !strings.Contains(out, "dcgm_gpu_power_usage") || !strings.Contains(out, "[30s]") {
		t.Errorf("exit %d: %s%s", code, out, stderr)
	}
}

func TestPlanIncludesTheChain(t *testing.T) {
	t.Setenv("FIRSTLIGHT_HOME", t.TempDir())
	out, stderr, code := run(t, "plan", "--include", "autoscale")
	if code != cmdutil.ExitPassed || !strings.Contains(out, "9  autoscale\n   needs   telemetry") {
		t.Errorf("exit %d: %s%s", code, out, stderr)
	}
}
