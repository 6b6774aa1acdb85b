package e2e_test

import (
	"os"
	"path/filepath"
	"testing"
)

// TestFromKeepsEarlierVerdicts re-runs from a gate on, as after a repair:
// the gates before keep their verdicts and say from which run, and the new run
// replays by itself.
func TestFromKeepsEarlierVerdicts(t *testing.T) {
	first, r, earlier := healthyRun(t)
	if r.Code != 0 {
		t.Fatalf("exit %d\n%s", r.Code, r.Stderr)
	}
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(earlier)); err != nil {
		t.Fatal(err)
	}
	again, r := accept(t, "--from", "7", "--evidence", dir)
	if r.Code != 0 || again.verdicts() != allPassed || again.Run == first.Run {
		t.Fatalf("exit %d, run %s after %s: %s\n%s", r.Code, again.Run, first.Run, again.verdicts(), r.Stderr)
	}
	for i, g := range again.Gates {
		kept := ""
		if i < 6 {
			kept = first.Run
		}
		if g.KeptFrom != kept {
			t.Errorf("gate %s is kept from %q, want %q", g.Gate, g.KeptFrom, kept)
		}
		if i < 6 && !g.Started.Equal(first.Gates[i].Started) {
			t.Errorf("gate %s lost its date: %s, was %s", g.Gate, g.Started, first.Gates[i].Started)
		}
	}
	program.Must(t, "evidence", "replay", filepath.Join(dir, again.Run))
	program.Must(t, "evidence", "verify", filepath.Join(dir, again.Run))

	only, r := accept(t, "--only", "fabric", "--evidence", dir)
	if r.Code != 0 || only.verdicts() != "fabric=passed" {
		t.Errorf("--only fabric exits %d: %s", r.Code, only.verdicts())
	}
	program.Must(t, "evidence", "replay", filepath.Join(dir, only.Run))
	// Verdicts are kept from the last complete run, not from a run of one gate.
	third, r := accept(t, "--from", "inference", "--evidence", dir)
	if r.Code != 0 || third.verdicts() != allPassed || third.Gates[6].KeptFrom != again.Run {
		t.Errorf("--from inference after --only fabric exits %d: %s, training kept from %q", r.Code, third.verdicts(), third.Gates[6].KeptFrom)
	}
}
