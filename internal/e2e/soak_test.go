package e2e_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/evidence"
	"github.com/firstlight/firstlight/internal/poll/polltest"
	"github.com/firstlight/firstlight/internal/suite"
)

// TestSoak: a soak whose process is killed in its second repetition is continued, and names what
// changed after a fault.
func TestSoak(t *testing.T) {
	suite.Require(t, suite.All)
	sharedLab(t)
	dir := t.TempDir()
	args := []string{"accept", "--soak", "2m", "--lab", labName, "--evidence", dir, "-o", "json"}
	cmd := program.Command(t.Context(), args...)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	runs := func() []string {
		ids, err := evidence.List(dir)
		if err != nil {
			t.Fatal(err)
		}
		return ids
	}
	polltest.Until(t, "the second repetition", func() bool { return len(runs()) == 2 })
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // killed
	first := runs()

	defer program.Must(t, "lab", "fault", "clear", "--all", "--name", labName)
	program.Must(t, "lab", "fault", "add", "straggler-node", "gpu-03", "--set", "factor=1.2", "--name", labName)
	r := program.Run(t.Context(), args...)
	var got struct {
		Verdict     string
		Repetitions []struct {
			Run, Verdict string
			Interrupted  bool
		}
		Changes []struct{ Gate, Suspect string }
	}
	if err := json.Unmarshal([]byte(r.Stdout), &got); err != nil || r.Code != 1 || got.Verdict != "failed" {
		t.Fatalf("exit %d: %v\n%s%s", r.Code, err, r.Stdout, r.Stderr)
	}
	if n := len(got.Repetitions); n < 3 || !slices.Contains(first, got.Repetitions[0].Run) || !got.Repetitions[1].Interrupted || got.Repetitions[n-1].Verdict != "failed" || !strings.Contains(r.Stderr, "continues after 2 repetitions") {
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
