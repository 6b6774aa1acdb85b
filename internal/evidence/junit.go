package evidence

import (
	"fmt"
	"slices"
	"strings"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/evidence/junit"
	"github.com/firstlight/firstlight/internal/plan"
)

// cleanUp is the test case of a failed clean-up.
const cleanUp = "clean-up"

// verdictCase is the test case of a run that does not pass although no step of it failed: none passed.
const verdictCase = "verdict"

// unshown is why such a run does not pass.
func unshown(v Verdicts) string {
	return strings.Join(append([]string{fmt.Sprintf("the run is %s: no step that counts passed", v.Verdict)}, v.NarrowedBy...), "; ")
}

// junitReport writes one suite per run and one case per step. A failed step is a failure;
// unobserved, blocked and omitted steps are errors; a recommended step that did not pass is
// skipped, unless it was run alone.
func junitReport(b *Bundle, v Verdicts) ([]byte, error) {
	s := junit.Suite{
		Name: b.Plan.Name + " " + v.Run, Timestamp: junit.Started(v.Started), Time: junit.Seconds(v.Finished.Sub(v.Started)),
		Properties: []junit.Property{
			{Name: "run", Value: v.Run},
			{Name: "site", Value: v.Site},
			{Name: "profile", Value: v.Profile},
			{Name: "verdict", Value: string(v.Verdict)},
			{Name: "simulated", Value: fmt.Sprint(v.Simulated)},
		},
	}
	switch {
	case v.Verdict == check.Partial && len(v.NarrowedBy) > 0:
		s.Name += " (" + v.NarrowedBy[0] + ")"
	case len(v.NarrowedBy) > 0:
		s.Name += " (narrowed)"
	}
	for _, reason := range v.NarrowedBy {
		s.Properties = append(s.Properties, junit.Property{Name: "narrowedBy", Value: reason})
	}
	for _, r := range v.Results {
		c := junitOf(b.Plan.Name, r)
		if v.Only == "" && slices.Contains(b.Recommended(), r.Step) {
			onlyRecommended(&c)
		}
		s.Cases = append(s.Cases, c)
		for _, node := range r.LeftOut {
			s.Cases = append(s.Cases, junit.Case{
				Name: r.Step + " of " + node, Classname: className(b.Plan.Name), Time: junit.Seconds(0),
				Skipped: &junit.Detail{Message: "left out: it failed", Type: string(check.Partial), Text: findingLines(r)},
			})
		}
	}
	if v.Only == "" {
		for _, name := range v.Omitted {
			text := "the step was not selected and has no earlier verdict"
			s.Cases = append(s.Cases, junit.Case{
				Name: name, Classname: className(b.Plan.Name), Time: junit.Seconds(0),
				Error: &junit.Detail{Message: text, Type: "omitted", Text: text},
			})
		}
	}
	if len(v.Uncleaned) > 0 {
		text := strings.Join(v.Uncleaned, "\n")
		s.Cases = append(s.Cases, junit.Case{Name: cleanUp, Classname: className(b.Plan.Name), Time: "0.000", Error: &junit.Detail{Message: v.Uncleaned[0], Type: string(check.Unobserved), Text: text}})
	}
	if !v.Verdict.Holds() && !slices.ContainsFunc(s.Cases, func(c junit.Case) bool { return c.Failure != nil || c.Error != nil }) {
		// A reader of the cases alone must not see a pass.
		text := unshown(v)
		s.Cases = append(s.Cases, junit.Case{Name: verdictCase, Classname: className(b.Plan.Name), Time: "0.000", Error: &junit.Detail{Message: text, Type: string(v.Verdict), Text: text}})
	}
	return junit.Write(junit.Report{Time: s.Time, Suite: s})
}

func className(planName string) string { return "firstlight." + idPart(planName) }

func junitOf(planName string, r plan.Result) junit.Case {
	c := junit.Case{
		Name: r.Step, Classname: className(planName), Time: junit.Seconds(r.Duration()),
		SystemOut: figureLines(r.Figures),
	}
	d := &junit.Detail{Message: r.Reason, Type: string(r.Verdict), Text: findingLines(r)}
	switch r.Verdict {
	case check.Passed, check.Partial: // a case for each node that is left out follows
	case check.NotApplicable:
		c.Skipped = d
	case check.Failed:
		c.Failure = d
	case check.Unobserved, check.Blocked:
		c.Error = d
	default:
		c.Error = d
	}
	return c
}

// onlyRecommended marks a failure or error as skipped, with its verdict and reason.
func onlyRecommended(c *junit.Case) {
	for _, d := range []*junit.Detail{c.Failure, c.Error} {
		if d != nil {
			c.Skipped = &junit.Detail{Message: "recommended, " + d.Type + ": " + d.Message, Type: d.Type, Text: d.Text}
		}
	}
	c.Failure, c.Error = nil, nil
}

// figureLines writes one line per figure: "busbw 481.2 GB/s (>= 460)".
func figureLines(figures []check.Figure) string {
	var b strings.Builder
	for _, f := range figures {
		fmt.Fprintf(&b, "%s %s %s", f.Name, number(f.Value), f.Unit)
		if f.Relation != "" {
			fmt.Fprintf(&b, " (%s %s)", f.Relation, number(f.Limit))
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// findingLines writes the reason and each finding.
func findingLines(r plan.Result) string {
	lines := []string{r.Reason}
	for _, f := range r.Findings {
		lines = append(lines, fmt.Sprintf("%s: %s. Next: %s", f.Suspect, f.Message, f.Remedy))
	}
	return strings.Join(lines, "\n")
}
