package evidence

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/evidence/junit"
)

// A step that is only recommended fails no run, in none of its files, and says what
// became of it in each; judged again the run has the same verdict.
func TestRecommendedStepsDoNotFailTheRun(t *testing.T) {
	t.Parallel()
	p := testPlan()
	p.Steps = p.Steps[:3]
	p.Steps[2].Recommended = true
	dir := finished(t, p)
	b, err := Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	if got := b.Results()[2].Verdict; b.Verdict() != check.Passed || got != check.Failed {
		t.Errorf("the run is %s, with c %s", b.Verdict(), got)
	}
	again, err := Replay(dir, testChecks)
	if err != nil || !again.Identical() || again.Again != check.Passed {
		t.Errorf("replayed: %+v, %v", again, err)
	}
	read := func(name string) []byte {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	suites, err := junit.Read(read(junitFile))
	if err != nil {
		t.Fatal(err)
	}
	if c := suites.Suite.Cases[2]; suites.Failures+suites.Errors != 0 || suites.Skipped != 1 || c.Skipped == nil || !strings.HasPrefix(c.Skipped.Message, "recommended, failed: ") {
		t.Errorf("%+v", suites)
	}
	var doc ctrfDocument
	if err := json.Unmarshal(read(ctrfFile), &doc); err != nil {
		t.Fatal(err)
	}
	if c := doc.Results.Tests[2]; doc.Results.Summary.Failed != 0 || c.Status != "other" || c.RawStatus != "failed" {
		t.Errorf("%+v", doc.Results)
	}
	if !strings.Contains(string(read(reportFile)), "c (recommended)") {
		t.Error("the report does not say that c is recommended")
	}
}
