package accept

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/cli/clitest"
	"github.com/firstlight/firstlight/internal/cli/cmdutil"
	"github.com/firstlight/firstlight/internal/golden"
	"github.com/firstlight/firstlight/internal/site"
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

// The file of new nodes is read before a lab starts; flags of other runs do not go with it.
func TestAddFlags(t *testing.T) {
	t.Setenv("FIRSTLIGHT_HOME", t.TempDir())
	dir := t.TempDir()
	write := func(name, text string) string {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	good := write("nodes.yaml", "nodes: [{name: gpu-05}, {name: gpu-06}]\n")
	site := write("site.yaml", string(site.Example()))
	for line, want := range map[string]string{
		"accept --to x":                                     "--to, --key and --max-age need --add",
		"accept --max-age 1h":                               "need --add",
		"accept --add x.yaml":                               "cannot read --add",
		"accept --add " + good + " --max-age -1h":           "must not be negative",
		"accept --add " + write("none.yaml", "nodes: []\n"): "none.yaml:1:8: error: empty key \"nodes\"",
		"accept --add " + write("bad.yaml", "nodes: [{name: X}, {nam: y}]\n"): "bad.yaml:1:21: error: unknown key",
		"accept --add " + good + " --from node":                               "none of the others can be",
		"accept --add " + good + " --allow-failed 1":                          "none of the others can be",
		"accept --add " + good + " --preflight":                               "none of the others can be",
		"accept --add " + good + " --spine single-node":                       "none of the others can be",
	} {
		if _, stderr, code := clitest.Run(t, New, strings.Fields(line)...); code != cmdutil.ExitUsage || !strings.Contains(stderr, want) {
			t.Errorf("%s exits %d: %s, want %q", line, code, stderr, want)
		}
	}
	out, stderr, code := clitest.Run(t, NewPlan, "plan", "--site", site, "--add", good)
	if code != cmdutil.ExitPassed || !strings.Contains(out, "gpu-05, gpu-06 added to ") || !strings.Contains(out, "3  pairs\n   needs   node\n") {
		t.Errorf("plan --add exits %d: %s%s", code, out, stderr)
	}
	if _, stderr, code := clitest.Run(t, NewPlan, "plan", "--site", site, "--add", write("dup.yaml", "nodes: [{name: a}, {name: a}]\n")); code != cmdutil.ExitUsage || !strings.Contains(stderr, "duplicate node") {
		t.Errorf("plan --add exits %d: %s", code, stderr)
	}
}
