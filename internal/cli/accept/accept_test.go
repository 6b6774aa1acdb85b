package accept

import (
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/cli/clitest"
	"github.com/firstlight/firstlight/internal/cli/cmdutil"
	"github.com/firstlight/firstlight/internal/golden"
)

func TestPlan(t *testing.T) {
	t.Setenv("FIRSTLIGHT_HOME", t.TempDir())
	out, stderr, code := clitest.Run(t, NewPlan, "plan")
	if code != cmdutil.ExitPassed {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	golden.Compare(t, "testdata/golden/plan.txt", []byte(out))
}

func TestPlanIncludesTheChain(t *testing.T) {
	t.Setenv("FIRSTLIGHT_HOME", t.TempDir())
	out, stderr, code := clitest.Run(t, NewPlan, "plan", "--include", "autoscale")
	if code != cmdutil.ExitPassed || !strings.Contains(out, "\n9  autoscale\n   needs   telemetry\n") {
		t.Errorf("exit %d: %s%s", code, out, stderr)
	}
}

func TestFlags(t *testing.T) {
	t.Setenv("FIRSTLIGHT_HOME", t.TempDir())
	for line, want := range map[string]string{
		"accept --include autoscal":             "want autoscale",
		"accept --include autoscale,autoscale":  "duplicate",
		"accept --only autoscale":               "unknown gate",
		"accept --resume x --include autoscale": "none of the others can be",
	} {
		if _, stderr, code := clitest.Run(t, New, strings.Fields(line)...); code != cmdutil.ExitUsage || !strings.Contains(stderr, want) {
			t.Errorf("%s exits %d: %s, want %q", line, code, stderr, want)
		}
	}
	if _, stderr, code := clitest.Run(t, NewPlan, "plan", "--include", "autoscal"); code != cmdutil.ExitUsage || !strings.Contains(stderr, "autoscale") {
		t.Errorf("plan exits %d: %s", code, stderr)
	}
}

func TestGateNames(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{"": "", "1": "facility", "8": "inference", "node": "node"} {
		if got, err := gateName(in); err != nil || got != want {
			t.Errorf("%q is %q, %v", in, got, err)
		}
	}
	for _, in := range []string{"0", "9", "nod", "Node"} {
		if got, err := gateName(in); err == nil {
			t.Errorf("%q is %q", in, got)
		}
	}
}
