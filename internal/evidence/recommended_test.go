package evidence

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/evidence/junit"
	"github.com/firstlight/firstlight/internal/plan"
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

// A run of one step alone has the verdict of that step, in every report: a reader of the cases must not see a
// pass where the run has none.
func TestAStepThatRunsAloneIsCounted(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		change  func(*plan.Step)
		verdict check.Verdict
		// failures and errors are of JUnit.
		failures, errors int
	}{
		"recommended and failed": {func(s *plan.Step) { s.Recommended = true }, check.Failed, 1, 0},
		"not applicable":         {func(s *plan.Step) { s.NotApplicable = "not installed" }, check.Unobserved, 0, 1},
	} {
		p := testPlan()
		p.Steps = p.Steps[:3]
		tt.change(&p.Steps[2])
		start := testStart(p)
		start.Header.Only = "c"
		r, err := Create(t.TempDir(), start, testOptions())
		if err != nil {
			t.Fatal(err)
		}
		out := execute(t, r, plan.Executor{Plan: p, Only: "c"})
		if err := r.Finish(out, nil); err != nil || out.Verdict != tt.verdict {
			t.Fatalf("%s: %s, %v", name, out.Verdict, err)
		}
		data, err := os.ReadFile(filepath.Join(r.Dir(), junitFile))
		if err != nil {
			t.Fatal(err)
		}
		suites, err := junit.Read(data)
		if err != nil || suites.Failures != tt.failures || suites.Errors != tt.errors {
			t.Errorf("%s: %+v, %v", name, suites, err)
		}
		if data, err = os.ReadFile(filepath.Join(r.Dir(), ctrfFile)); err != nil {
			t.Fatal(err)
		}
		var doc ctrfDocument
		if err := json.Unmarshal(data, &doc); err != nil || doc.Results.Summary.Failed != 1 {
			t.Errorf("%s: %+v, %v", name, doc.Results, err)
		}
	}
}
