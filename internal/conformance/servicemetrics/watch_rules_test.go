package servicemetrics

import (
	"testing"

	"github.com/firstlight/firstlight/internal/check"
)

// A step that was not observed is the only finding: later steps are not judged.
func TestAStepThatWasNotObservedIsTheOnlyFinding(t *testing.T) {
	t.Parallel()
	for name, drop := range map[string]func(f *facts){
		"mark": func(f *facts) { f.mark = nil }, "server": func(f *facts) { f.server = nil }, "without the mark": func(f *facts) { f.unmarked = nil },
		"with the mark": func(f *facts) { f.marked = nil }, "idle": func(f *facts) { f.idle = nil }, "requests": func(f *facts) { f.underLoad = nil },
		"after": func(f *facts) { f.after = nil }, "mark removed": func(f *facts) { f.again = nil }, "end": func(f *facts) { f.end = nil },
	} {
		f := healthy()
		drop(f)
		if j := theCheck(t).Judge(f.observations(t)); j.Verdict != check.Unobserved || len(j.Findings) != 1 {
			t.Errorf("%s: %s: %+v", name, j.Verdict, j.Findings)
		}
	}
}

// The first query after the mark may find a sample of before it; a later one may not.
func TestASampleBeforeTheMarkIsOfTheFirstQueryOnly(t *testing.T) {
	t.Parallel()
	for queries, want := range map[int]check.Verdict{1: check.Passed, 2: check.Failed} {
		f := healthy()
		f.marked.Queries, f.marked.Series[0].At = queries, at(159)
		if j := theCheck(t).Judge(f.observations(t)); j.Verdict != want {
			t.Errorf("%d queries: %s: %s", queries, j.Verdict, j.Reason)
		}
	}
}
