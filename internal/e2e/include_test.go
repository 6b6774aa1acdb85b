package e2e_test

import (
	"path/filepath"
	"testing"

	"github.com/firstlight/firstlight/internal/suite"
)

// TestAcceptIncludesAutoscale runs the playbook with the chain in it. It is
// not parallel: gates measure latencies.
func TestAcceptIncludesAutoscale(t *testing.T) {
	suite.Require(t, suite.All)
	sharedLab(t)
	dir := t.TempDir()
	a, r := accept(t, "--fresh", "--include", "autoscale", "--evidence", dir)
	if r.Code != 0 || a.verdicts() != allPassed+" autoscale=passed" {
		t.Errorf("exit %d: %s\n%s", r.Code, a.verdicts(), r.Stderr)
	}
	if v := program.Run(t.Context(), "evidence", "replay", filepath.Join(dir, a.Run)); v.Code != 0 {
		t.Errorf("replay exited %d:\n%s%s", v.Code, v.Stdout, v.Stderr)
	}
}
