package accept

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/cli/clitest"
	"github.com/firstlight/firstlight/internal/cli/cmdutil"
	"github.com/firstlight/firstlight/internal/site"
)

func rayFile(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "ray.yaml")
	merged, err := site.Over(site.Example(), path, site.RayExample())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, merged, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// The plan has the actions on the RayCluster, and the gates that the site gives up. The roles are those of its gate.
func TestRayPlan(t *testing.T) {
	t.Parallel()
	path := rayFile(t)
	for _, args := range [][]string{{"plan", "--spine", "ray"}, {"plan", "--spine", "ray", "--site", path}, {"plan", "--site", path}} {
		stdout, stderr, code := clitest.Run(t, NewPlan, args...)
		if code != 0 || strings.Contains(stderr, "plan of the lab") != (len(args) == 3 && args[1] == "--spine") {
			t.Errorf("%q exits %d: %s", args, code, stderr)
		}
		for _, want := range []string{"read RayCluster ray/ray and its pods", "bundles with 8 GPUs each (STRICT_SPREAD)", "dcgmi diag -r 3", "not applicable: Ray's workers hold the GPUs"} {
			if !strings.Contains(stdout, want) {
				t.Errorf("%q has no %q: %s", args, want, stdout)
			}
		}
	}
	stdout, stderr, code := clitest.Run(t, New, "accept", "rbac", "--site", path, "--namespace", "runs")
	if code != 0 || !strings.Contains(stdout, "rayclusters") || !strings.Contains(stdout, "namespace: ray") || strings.Contains(stdout, "clusterpolicies") {
		t.Errorf("roles: exit %d: %s%s", code, stdout, stderr)
	}
	if _, stderr, code := clitest.Run(t, New, "accept", "--spine", "slurm", "--site", path); code != cmdutil.ExitUsage || !strings.Contains(stderr, "the site has spine ray, --spine is slurm") {
		t.Errorf("another spine: exit %d: %s", code, stderr)
	}
}
