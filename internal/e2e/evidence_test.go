package e2e_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestEvidenceMovedAndTampered replays a run that was moved, and finds each
// single byte that is changed in it.
func TestEvidenceMovedAndTampered(t *testing.T) {
	a, r, dir := healthyRun(t)
	if r.Code != 0 {
		t.Fatalf("accept exited %d\n%s", r.Code, r.Stderr)
	}
	moved := filepath.Join(t.TempDir(), "moved")
	if err := os.CopyFS(moved, os.DirFS(filepath.Join(dir, a.Run))); err != nil {
		t.Fatal(err)
	}
	if replay := program.Must(t, "evidence", "replay", moved); strings.Count(replay.Stdout, "identical") < len(a.Gates) {
		t.Errorf("replay: %s", replay.Stdout)
	}
	changed := 0
	for name, data := range readAll(t, moved) {
		if len(data) == 0 {
			continue
		}
		flipped := append([]byte(nil), data...)
		flipped[len(flipped)/2] ^= 1
		if err := os.WriteFile(name, flipped, 0o600); err != nil {
			t.Fatal(err)
		}
		if changed++; changed <= 40 { // a process each: enough of them to cover every kind of file
			v := program.Run(t.Context(), "evidence", "verify", moved)
			if rel, _ := filepath.Rel(moved, name); v.Code == 0 || !strings.Contains(v.Stdout+v.Stderr, rel) {
				t.Errorf("a byte of %s was changed, verify exited %d: %s", rel, v.Code, v.Stdout)
			}
		}
		if err := os.WriteFile(name, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if changed < 30 {
		t.Errorf("only %d files in a whole run", changed)
	}
	program.Must(t, "evidence", "verify", moved)
}
