package defects_test

import (
	"regexp"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/diag"
	"github.com/firstlight/firstlight/internal/plan"
)

// The matchers of this package report each difference from the expected problems: these cases
// are their negative controls.
func TestLintMatcherReportsDifferences(t *testing.T) {
	t.Parallel()
	files := fstest.MapFS{"overlays/x.yaml": {Data: []byte("one\ntwo\nthree\n")}}
	changes := []change{{file: "overlays/x.yaml", first: 2, last: 2}}
	at := func(file string, line int, rule, message string) diag.Problem {
		return diag.Problem{Pos: diag.Pos{File: file, Line: line}, Rule: rule, Message: message, Remedy: "correct it"}
	}
	right := at("recipes/overlays/x.yaml", 2, "unknown-key", "the key x")
	for name, tt := range map[string]struct {
		said diag.List
		want said
		held string
	}{
		"as expected":              {diag.List{right}, said{Says: "key x"}, ""},
		"by the line's text":       {diag.List{at("recipes/overlays/x.yaml", 3, "unknown-key", "")}, said{Line: "three"}, ""},
		"of the whole file":        {diag.List{at("recipes/overlays/x.yaml", 0, "unknown-key", "")}, said{Whole: true}, ""},
		"nothing is reported":      {nil, said{}, "does not say"},
		"on another line":          {diag.List{at("recipes/overlays/x.yaml", 3, "unknown-key", "")}, said{}, "does not say"},
		"on no line":               {diag.List{at("recipes/overlays/x.yaml", 0, "unknown-key", "")}, said{}, "does not say"},
		"on a line of another one": {diag.List{right}, said{Line: "three"}, "does not say"},
		"in another file":          {diag.List{at("recipes/overlays/y.yaml", 2, "unknown-key", "")}, said{}, "does not say"},
		"in another tree":          {diag.List{at("overlays/x.yaml", 2, "unknown-key", "")}, said{}, "does not say"},
		"by another rule":          {diag.List{at("recipes/overlays/x.yaml", 2, "duplicate-key", "")}, said{}, "does not say"},
		"in other words":           {diag.List{right}, said{Says: "key y"}, "does not say"},
		"once more":                {diag.List{right, right}, said{}, "also says"},
		"and something else":       {diag.List{right, at("recipes/registry.yaml", 1, "unused-component", "")}, said{}, "also says"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tt.want.Rule, tt.want.File = "unknown-key", "overlays/x.yaml"
			d := defect{Lint: []said{tt.want}}
			holds(t, d.hold(tt.said, files, changes), tt.held)
		})
	}
}

func TestFindingsMatcherReportsDifferences(t *testing.T) {
	t.Parallel()
	o := outcome{
		Suspect: pattern{regexp.MustCompile("^nfd/worker$")}, Reason: pattern{regexp.MustCompile("taint")},
		Also: pattern{regexp.MustCompile("^control/")},
	}
	cause := check.Finding{Suspect: "nfd/worker", Message: "does not tolerate the taint", Remedy: "do"}
	of := func(suspect, message string) check.Finding {
		return check.Finding{Suspect: suspect, Message: message, Remedy: "do"}
	}
	consequence := of("probe/gang", "is Pending: caused by nfd/worker")
	for name, tt := range map[string]struct {
		verdict  check.Verdict
		findings []check.Finding
		held     string
	}{
		"as expected":          {check.Failed, []check.Finding{cause, of("control/x", "passed"), consequence}, ""},
		"it passed":            {check.Passed, nil, "the verdict is passed"},
		"it could not be seen": {check.Unobserved, []check.Finding{cause}, "the verdict is unobserved"},
		"without a word":       {check.Failed, nil, "with 0 findings"},
		"another suspect":      {check.Failed, []check.Finding{of("gpu/plugin", "a taint")}, "the first finding"},
		"another reason":       {check.Failed, []check.Finding{of("nfd/worker", "a label")}, "the first finding"},
		"behind another cause": {check.Failed, []check.Finding{of("control/x", "passed"), cause}, "the first finding"},
		"behind what follows":  {check.Failed, []check.Finding{cause, consequence, of("control/x", "passed")}, "behind consequences"},
		"an unexpected cause":  {check.Failed, []check.Finding{cause, of("gpu/plugin", "a taint")}, "not said: gpu/plugin"},
		"no remedy":            {check.Failed, []check.Finding{{Suspect: cause.Suspect, Message: cause.Message}}, "no remedy"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			holds(t, o.hold(plan.Result{Judgement: check.Judgement{Verdict: tt.verdict, Findings: tt.findings}}), tt.held)
		})
	}
}

func holds(t *testing.T, got []string, want string) {
	t.Helper()
	if text := strings.Join(got, "\n"); (want == "") != (text == "") || !strings.Contains(text, want) {
		t.Errorf("got %q, want %q", text, want)
	}
}
