package e2e_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/suite"
)

// TestGroups accepts a lab of two nodes with H100 and two with H200, each group by its own profile:
// replay judges the same, and a fault fails the gate of its group alone, with the group's name.
func TestGroups(t *testing.T) {
	suite.Require(t, suite.All)
	sharedLab(t)
	const name = "groups"
	path := filepath.Join(t.TempDir(), "site.yaml")
	text := strings.Replace(program.Must(t, "lab", "site", "--name", labName).Stdout, "\nreach:\n", "\ngroups:\n  - {name: new, profile: h200-sxm-ndr400, nodes: [gpu-03, gpu-04]}\n\nreach:\n", 1)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	program.Must(t, "lab", "up", "--name", name, "--site", path)
	defer program.Must(t, "lab", "down", "--name", name)
	dir := t.TempDir()
	r := program.Run(t.Context(), "accept", "-o", "json", "--lab", name, "--evidence", dir)
	a := decode(t, r)
	if r.Code != 0 || a.Verdict != "passed" {
		t.Fatalf("exit %d: %s\n%s%s", r.Code, a.verdicts(), r.Stdout, r.Stderr)
	}
	for _, want := range []string{"h100-sxm-ndr400: ", "h200-sxm-ndr400: "} {
		if !strings.Contains(r.Stdout, want) {
			t.Errorf("no verdict of group %s", want)
		}
	}
	program.Must(t, "evidence", "replay", filepath.Join(dir, a.Run))
	program.Must(t, "lab", "fault", "add", "gpu-off-bus", "gpu-03/gpu5", "--name", name)
	r = program.Run(t.Context(), "accept", "-o", "json", "--lab", name, "--only", "node", "--evidence", dir)
	if a = decode(t, r); r.Code != 1 || a.verdicts() != "node=failed" || !strings.Contains(r.Stdout, "h200-sxm-ndr400: ") || !strings.Contains(r.Stdout, "gpu-03/gpu5") {
		t.Errorf("exit %d: %s\n%s", r.Code, a.verdicts(), r.Stdout)
	}
}
