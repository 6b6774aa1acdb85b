package evidence

import (
	"encoding/xml"
	"fmt"
	"slices"
	"strings"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/plan"
)

type junitSuites struct {
	XMLName  xml.Name   `xml:"testsuites"`
	Name     string     `xml:"name,attr"`
	Tests    int        `xml:"tests,attr"`
	Failures int        `xml:"failures,attr"`
	Errors   int        `xml:"errors,attr"`
	Skipped  int        `xml:"skipped,attr"`
	Time     string     `xml:"time,attr"`
	Suite    junitSuite `xml:"testsuite"`
}

type junitSuite struct {
	Name       string          `xml:"name,attr"`
	Timestamp  string          `xml:"timestamp,attr"`
	Tests      int             `xml:"tests,attr"`
	Failures   int             `xml:"failures,attr"`
	Errors     int             `xml:"errors,attr"`
	Skipped    int             `xml:"skipped,attr"`
	Time       string          `xml:"time,attr"`
	Properties []junitProperty `xml:"properties>property"`
	Cases      []junitCase     `xml:"testcase"`
}

type junitProperty struct {
	Name  string `xml:"name,attr"`
	Value string `xml:"value,attr"`
}

type junitCase struct {
	Name      string       `xml:"name,attr"`
	Classname string       `xml:"classname,attr"`
	Time      string       `xml:"time,attr"`
	Failure   *junitDetail `xml:"failure,omitempty"`
	Error     *junitDetail `xml:"error,omitempty"`
	Skipped   *junitDetail `xml:"skipped,omitempty"`
	SystemOut string       `xml:"system-out,omitempty"`
}

type junitDetail struct {
	Message string `xml:"message,attr"`
	Type    string `xml:"type,attr"`
	Text    string `xml:",chardata"`
}

// cleanUp is the test case of a failed clean-up.
const cleanUp = "clean-up"

// junitReport writes one suite per run and one case per step. A failed step is a failure;
// unobserved, blocked and omitted steps are errors; a recommended step that did not pass is
// skipped.
func junitReport(b *Bundle, v Verdicts) ([]byte, error) {
	s := junitSuite{
		Name: b.Plan.Name + " " + v.Run, Timestamp: v.Started.UTC().Format("2006-01-02T15:04:05"),
		Time: fmt.Sprintf("%.3f", v.Finished.Sub(v.Started).Seconds()),
		Properties: []junitProperty{
			{"run", v.Run},
			{"site", v.Site},
			{"profile", v.Profile},
			{"verdict", string(v.Verdict)},
			{"simulated", fmt.Sprint(v.Simulated)},
		},
	}
	if len(v.NarrowedBy) > 0 {
		s.Name += " (narrowed)"
	}
	for _, reason := range v.NarrowedBy {
		s.Properties = append(s.Properties, junitProperty{"narrowedBy", reason})
	}
	for _, r := range v.Results {
		c := junitOf(b.Plan.Name, r)
		if slices.Contains(b.Recommended(), r.Step) {
			c.onlyRecommended()
		}
		s.add(c)
	}
	if v.Only == "" {
		for _, name := range v.Omitted {
			text := "the step was not selected and has no earlier verdict"
			s.add(junitCase{
				Name: name, Classname: className(b.Plan.Name), Time: "0.000",
				Error: &junitDetail{Message: text, Type: "omitted", Text: text},
			})
		}
	}
	if len(v.Uncleaned) > 0 {
		text := strings.Join(v.Uncleaned, "\n")
		s.add(junitCase{Name: cleanUp, Classname: className(b.Plan.Name), Time: "0.000", Error: &junitDetail{Message: v.Uncleaned[0], Type: string(check.Unobserved), Text: text}})
	}
	all := junitSuites{
		Name: "firstlight", Tests: s.Tests, Failures: s.Failures, Errors: s.Errors, Skipped: s.Skipped,
		Time: s.Time, Suite: s,
	}
	data, err := xml.MarshalIndent(all, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("encode junit: %w", err)
	}
	return append([]byte(xml.Header), append(data, '\n')...), nil
}

func (s *junitSuite) add(c junitCase) {
	s.Tests++
	switch {
	case c.Failure != nil:
		s.Failures++
	case c.Error != nil:
		s.Errors++
	case c.Skipped != nil:
		s.Skipped++
	}
	s.Cases = append(s.Cases, c)
}

func className(planName string) string { return "firstlight." + idPart(planName) }

func junitOf(planName string, r plan.Result) junitCase {
	c := junitCase{
		Name: r.Step, Classname: className(planName), Time: fmt.Sprintf("%.3f", r.Duration().Seconds()),
		SystemOut: figureLines(r.Figures),
	}
	d := &junitDetail{Message: r.Reason, Type: string(r.Verdict), Text: findingLines(r)}
	switch r.Verdict {
	case check.Passed:
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
func (c *junitCase) onlyRecommended() {
	for _, d := range []*junitDetail{c.Failure, c.Error} {
		if d != nil {
			c.Skipped = &junitDetail{Message: "recommended, " + d.Type + ": " + d.Message, Type: d.Type, Text: d.Text}
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
