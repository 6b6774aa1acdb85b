package e2e_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/e2e/binary"
	"github.com/firstlight/firstlight/internal/site"
	"github.com/firstlight/firstlight/internal/suite"
)

// TestSecondProcessThroughKubeconfig accepts the running lab as any other cluster: with a copy
// of the kubeconfig, a site file, and its own home without a lab.
func TestSecondProcessThroughKubeconfig(t *testing.T) {
	suite.Require(t, suite.All)
	sharedLab(t)
	dir := t.TempDir()
	kubeconfig := filepath.Join(dir, "kubeconfig")
	if err := os.WriteFile(kubeconfig, []byte(program.Must(t, "lab", "kubeconfig", "--name", labName).Stdout), 0o600); err != nil {
		t.Fatal(err)
	}
	path := strings.TrimSpace(program.Must(t, "lab", "site", "--path", "--name", labName).Stdout)
	if _, err := site.Load(path); err != nil {
		t.Fatal(err)
	}
	cmd := program.Command(t.Context(), "accept", "-o", "json", "--kubeconfig", kubeconfig, "--site", path, "--evidence", filepath.Join(dir, "evidence"))
	cmd.Env = append(cmd.Env, "FIRSTLIGHT_HOME="+filepath.Join(dir, "home"))
	r := binary.Finish(cmd)
	a := decode(t, r)
	if r.Code != 0 || a.verdicts() != allPassed {
		t.Errorf("exit %d: %s\n%s", r.Code, a.verdicts(), r.Stderr)
	}
	if !a.Simulated {
		t.Error("the evidence does not say that the hardware is simulated")
	}
	if _, err := os.Stat(filepath.Join(dir, "home")); !os.IsNotExist(err) {
		t.Errorf("the run made a lab's home of its own: %v", err)
	}
	program.RequireClean(t, labName)
}
