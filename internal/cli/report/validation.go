package report

import (
	"fmt"
	"io"

	"github.com/firstlight/firstlight/internal/conformance/submission"
	"github.com/firstlight/firstlight/internal/display"
	"github.com/firstlight/firstlight/internal/validate"
)

// Validation prints the outcome of validate. A step with several checks has a row for each.
func Validation(w io.Writer, r validate.Report, o Options) {
	s := summary{Options: o}
	s.printf("\n%s  validation for %s, CNCF AI Conformance %s\nsite %s, profile %s, recipe %s%s\n\n",
		o.Style.Bold("run "+r.Run), r.Intent, r.Conformance, r.Site, r.Profile, r.Recipe, Hardware(r.Simulated))
	s.printf("  %-2s %-28s %-14s %8s  %s\n", "#", "STEP", "VERDICT", "TOOK", "REASON")
	var findings []Finding
	for _, step := range r.Steps {
		s.printf("  %-2d %-28s %s %8s  %s\n", step.Number, step.Name, verdict(o.Style, step.Verdict), Took(step.Duration), s.Brief(step.Reason))
		for _, c := range step.Checks {
			findings = append(findings, findingsOf(c.Verdict, c.Gate, c.Findings)...)
		}
		if len(step.Checks)+len(step.Recommended) < 2 {
			continue
		}
		for _, c := range step.Checks {
			s.printf("       %-25s %s %8s  %s\n", c.Gate, verdict(o.Style, c.Verdict), Took(c.Duration), o.Style.Dim(s.Brief(c.Reason)))
		}
		for _, c := range step.Recommended {
			status, state := statusOf(c.Status)
			s.printf("       %-27s %s %8s  %s\n", c.Gate.Gate, o.Style.State(state, fmt.Sprintf("%-12s", status)), Took(c.Duration), o.Style.Dim(s.Brief(c.Reason)))
		}
	}
	last := []string{"evidence:  " + r.Evidence}
	if r.Artifacts != "" {
		last = append(last, "artifacts: "+r.Artifacts)
	}
	s.end(w, findings, r.Notes, r.Verdict, r.NarrowedBy, last...)
}

// statusOf is how the table shows the status of a recommendation. A recommendation fails
// nothing, so it is never shown as failed.
func statusOf(status submission.Status) (string, display.State) {
	switch status {
	case submission.Implemented:
		return "implemented", display.Done
	case submission.PartiallyImplemented:
		return "partial", display.Waiting
	case submission.NotImplemented:
		return "missing", display.Waiting
	case submission.NotApplicable:
		return "n/a", display.Waiting
	default:
		return "unknown", display.Waiting
	}
}
