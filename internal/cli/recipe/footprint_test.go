package recipe

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/cli/clitest"
	"github.com/firstlight/firstlight/internal/cli/cmdutil"
	"github.com/firstlight/firstlight/internal/golden"
	"github.com/firstlight/firstlight/internal/recipe/chart"
)

// footprintDir is a directory with a recipe tree of one component and, in charts/, its chart.
func footprintDir(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for from, to := range map[string]string{"tree": "recipes", "charts/shop": "charts/shop"} {
		if err := os.CopyFS(filepath.Join(dir, to), os.DirFS(filepath.Join("../../recipe/chart/testdata", from))); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestRecipeFootprintGoldens(t *testing.T) {
	t.Parallel()
	locked := footprintDir(t)
	if out, stderr, code := recipeRun(t, locked, "footprint update shop"+smallTree); code != cmdutil.ExitPassed {
		t.Fatalf("exit %d: %s%s", code, out, stderr)
	}
	for name, tt := range map[string]struct {
		line string
		code int
	}{
		"footprint-list.txt":   {"footprint list" + smallTree, cmdutil.ExitPassed},
		"footprint-list.json":  {"footprint list -o json" + smallTree, cmdutil.ExitPassed},
		"footprint-show.txt":   {"footprint show gke" + smallTree, cmdutil.ExitPassed},
		"footprint-check.txt":  {"footprint update --check" + smallTree, cmdutil.ExitPassed},
		"footprint-check.json": {"footprint update --check shop -o json" + smallTree, cmdutil.ExitPassed},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out, stderr, code := recipeRun(t, locked, tt.line)
			if code != tt.code {
				t.Fatalf("exit %d: %s%s", code, out, stderr)
			}
			golden.Compare(t, "testdata/golden/"+name, []byte(out))
		})
	}
}

// Drift is a failure with its position; a chart that is not available is unobserved.
func TestRecipeFootprintExits(t *testing.T) {
	t.Parallel()
	dir := footprintDir(t)
	out, _, code := recipeRun(t, dir, "footprint update --check shop"+smallTree)
	if code != cmdutil.ExitFailed || !strings.Contains(out, "recipes/footprints/shop.yaml:14:7: values 939c79c65a36: Deployment shop-counter: pod.requests.cpu: the footprint has nothing, the chart \"150m\"") {
		t.Errorf("rules: exit %d: %s", code, out)
	}
	if out, _, code := recipeRun(t, dir, "footprint update shop"+smallTree); code != cmdutil.ExitPassed || !strings.Contains(out, "locked: 2 sets of values, 9 workloads") {
		t.Errorf("lock: exit %d: %s", code, out)
	}
	file := filepath.Join(dir, "recipes/footprints/shop.yaml")
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(strings.Replace(string(data), "replicas: 3", "replicas: 30", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	out, _, code = recipeRun(t, dir, "footprint update --check shop -o json"+smallTree)
	var results []chart.Result
	if err := json.Unmarshal([]byte(out), &results); err != nil || code != cmdutil.ExitFailed || len(results) != 1 || len(results[0].Drift) != 1 || results[0].Drift[0].Line == 0 {
		t.Errorf("drift: exit %d, %v: %s", code, err, out)
	}
	out, _, code = recipeRun(t, dir, "footprint update shop --check --chart @/nothing"+smallTree)
	if code != cmdutil.ExitUnobserved || !strings.Contains(out, "nothing: not found") || !strings.Contains(out, "unavailable: no source has the chart") {
		t.Errorf("no chart: exit %d: %s", code, out)
	}
}

func TestRecipeFootprintRefuses(t *testing.T) {
	t.Parallel()
	dir := footprintDir(t)
	for line, want := range map[string]string{
		"footprint update": "is read-only: give --recipes",
		"footprint update --chart @/charts/shop" + smallTree: "needs the name of one footprint",
		"footprint update shup" + smallTree:                  "did you mean shop?",
		"footprint update --timeout 0s shop" + smallTree:     "must be positive",
		"footprint update shop --recipes @/nothing":          "no such file",
		"footprint show" + smallTree:                         "accepts 1 arg(s)",
		"footprint show gkee" + smallTree:                    "did you mean gke?",
		"footprint list all" + smallTree:                     "unknown command",
	} {
		out, stderr, code := recipeRun(t, dir, line)
		if code != cmdutil.ExitUsage || out != "" || !strings.Contains(stderr, want) {
			t.Errorf("%s: exit %d: %s%s", line, code, out, stderr)
		}
	}
}

// The footprints that ship are read, and say of each workload where it may be.
func TestFootprintsThatShip(t *testing.T) {
	t.Parallel()
	out, stderr, code := clitest.Run(t, New, "recipe", "footprint", "show", "h100-eks-amazonlinux-training-kubeflow")
	for _, want := range []string{"kai-operator", "nvidia-device-plugin-daemonset", "accelerated", "ClusterPolicy"} {
		if code != cmdutil.ExitPassed || !strings.Contains(out, want) {
			t.Errorf("exit %d: %s%s does not say %s", code, out, stderr, want)
		}
	}
}
