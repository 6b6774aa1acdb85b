package accept

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/cli/clitest"
	"github.com/firstlight/firstlight/internal/cli/cmdutil"
	"github.com/firstlight/firstlight/internal/site"
)

// The plan and the roles have the packaged components, with the spine of the file or of --spine.
func TestK3sPlan(t *testing.T) {
	t.Parallel()
	text := bytes.Replace(site.Example(), []byte("spine: kubernetes"), []byte("spine: k3s"), 1)
	path := filepath.Join(t.TempDir(), "k3s.yaml")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	const packaged = "the packaged components of k3s in kube-system"
	for _, args := range [][]string{{"plan", "--spine", "k3s"}, {"plan", "--spine", "k3s", "--site", path}, {"plan", "--site", path}} {
		stdout, stderr, code := clitest.Run(t, NewPlan, args...)
		if code != 0 || strings.Contains(stderr, "plan of a k3s lab") != (len(args) == 3 && args[1] == "--spine") || !strings.Contains(stdout, packaged) {
			t.Errorf("%q exits %d: %s%s", args, code, stderr, stdout)
		}
	}
	if stdout, _, code := clitest.Run(t, NewPlan, "plan"); code != 0 || strings.Contains(stdout, packaged) {
		t.Errorf("a plan without k3s: exit %d: %s", code, stdout)
	}
	stdout, stderr, code := clitest.Run(t, New, "accept", "rbac", "--site", path, "--namespace", "runs")
	if code != 0 || !strings.Contains(stdout, "whether the packaged components of k3s are ready") || !strings.Contains(stdout, "namespace: kube-system") {
		t.Errorf("roles: exit %d: %s%s", code, stdout, stderr)
	}
	if _, stderr, code := clitest.Run(t, New, "accept", "--spine", "ray", "--site", path); code != cmdutil.ExitUsage || !strings.Contains(stderr, "the site has spine k3s, --spine is ray") {
		t.Errorf("another spine: exit %d: %s", code, stderr)
	}
}
