package report

import (
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/accept"
	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/conformance/submission"
	"github.com/firstlight/firstlight/internal/display"
	"github.com/firstlight/firstlight/internal/validate"
)

// A recommendation has a row with its status and is never red.
func TestRecommendationsHaveRows(t *testing.T) {
	t.Parallel()
	row := func(name string, verdict check.Verdict, status submission.Status) validate.Recommendation {
		return validate.Recommendation{Gate: accept.Gate{Gate: name, Verdict: verdict, Reason: "as " + name + " is"}, Status: status}
	}
	r := validate.Report{Verdict: check.Passed, Steps: []validate.Step{{
		Number: 5, Name: "conformance", Verdict: check.Passed, Reason: "1 of 1 shown", Checks: []accept.Gate{{Gate: "dra_support", Verdict: check.Passed}},
		Recommended: []validate.Recommendation{
			row("driver_runtime_management", check.Passed, submission.Implemented), row("gpu_sharing", check.Unobserved, submission.PartiallyImplemented),
			row("virtualized_accelerator", check.Failed, submission.NotImplemented), row("high_performance_networking", check.NotApplicable, submission.NotApplicable),
			row("disaggregated_inference", check.Unobserved, ""),
		},
	}}}
	for _, coloured := range []bool{false, true} {
		var out strings.Builder
		Validation(&out, r, Options{Style: display.Style{Color: coloured}})
		if strings.Contains(out.String(), "\x1b[31m") {
			t.Errorf("a row is red:\n%s", out.String())
		}
		for _, want := range []string{"implemented", "partial", "missing", "n/a", "unknown", "as disaggregated_inference is"} {
			if !strings.Contains(out.String(), want) {
				t.Errorf("%q is missing in\n%s", want, out.String())
			}
		}
	}
}
