package e2e_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/firstlight/firstlight/internal/poll/polltest"
	"github.com/firstlight/firstlight/internal/suite"
)

// soakArgs is a soak of two repetitions or more on the shared lab.
func soakArgs(dir string) []string {
	return []string{"accept", "--soak", "20s", "--lab", labName, "--evidence", dir, "-o", "json"}
}

// TestSoak: a soak whose process is killed is continued, and names what changed after a fault.
func TestSoak(t *testing.T) {
	suite.Require(t, suite.All)
	dir := t.TempDir()
	cmd := program.Command(t.Context(), soakArgs(dir)...)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	runs := func() []string {
		files, err := filepath.Glob(filepath.Join(dir, "soak-*.json"))
		if err != nil || len(files) != 1 {
			return nil
		}
		data, err := os.ReadFile(files[0])
		var s struct{ Runs []string }
		if err != nil || json.Unmarshal(data, &s) != nil {
			return nil
		}
		return s.Runs
	}
	polltest.Until(t, "the first repetition", func() bool { return len(runs()) == 1 })
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // killed
	first := runs()

	defer program.Must(t, "lab", "fault", "clear", "--all", "--name", labName)
	program.Must(t, "lab", "fault", "add", "straggler-node", "gpu-03", "--set", "factor=1.2", "--name", labName)
	r := program.Run(t.Context(), append(soakArgs(dir), "--soak-every", "0s")...)
	var got struct {
		Verdict     string
		Repetitions []struct {
			Run, Verdict string
			Began, Ended time.Time
		}
		Changes []struct{ Gate, Suspect, Text string }
	}
	if err := json.Unmarshal([]byte(r.Stdout), &got); err != nil || r.Code != 1 || got.Verdict != "failed" {
		t.Fatalf("exit %d: %v\n%s%s", r.Code, err, r.Stdout, r.Stderr)
	}
	if len(got.Repetitions) < 2 || got.Repetitions[0].Run != first[0] || !strings.Contains(r.Stderr, "is continued: 1 repetitions") {
		t.Errorf("repetitions %+v\n%s", got.Repetitions, r.Stderr)
	}
	named := false
	for _, c := range got.Changes {
		named = named || c.Gate == "collective" && c.Suspect == "gpu-03"
	}
	if !named {
		t.Errorf("no change names gpu-03: %+v", got.Changes)
	}
	program.RequireClean(t, labName)
}
