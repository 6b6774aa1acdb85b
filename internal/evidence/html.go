package evidence

import (
	"bytes"
	_ "embed" // the page
	"fmt"
	"html/template"
	"time"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/plan"
)

//go:embed report.gohtml
var reportPage string

// page is the data of report.gohtml.
type page struct {
	Header   Header
	Plan     string
	Verdict  check.Verdict
	Headline string
	Counts   []count
	Started  time.Time
	Took     string
	Steps    []pageStep
	Notes    []string
	// NarrowedBy are the reasons why the verdict does not cover the whole plan.
	NarrowedBy []string
}

type count struct {
	Verdict check.Verdict
	N       int
}

type pageStep struct {
	Number  int
	Name    string
	Result  plan.Result
	Took    string
	Omitted bool
	// Recommended: the verdict does not count in the overall verdict.
	Recommended bool
	Figures     []pageFigure
	Charts      []pageChart
	Needs       []string
	Seen        []check.Observation
}

type pageChart struct {
	Title, Note string
	Drawing     template.HTML
	Legend      []legendEntry
}

type legendEntry struct {
	Class, Name string
}

// htmlReport renders report.html. A panic in a chart does not prevent the report.
func htmlReport(b *Bundle, v Verdicts, charts ChartsFor) ([]byte, error) {
	t, err := template.New("report").Funcs(template.FuncMap{
		"when":     func(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05 UTC") },
		"quantity": Quantity,
		"unit":     ShownUnit,
		"sign":     sign,
		"took":     shortDuration,
		"first":    firstLine,
	}).Parse(reportPage)
	if err != nil {
		return nil, fmt.Errorf("parse the report's page: %w", err)
	}
	p, err := newPage(b, v, charts)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	if err := t.Execute(&out, p); err != nil {
		return nil, fmt.Errorf("render the report: %w", err)
	}
	return out.Bytes(), nil
}

func newPage(b *Bundle, v Verdicts, charts ChartsFor) (page, error) {
	p := page{
		Header: b.Header, Plan: b.Plan.Name, Verdict: v.Verdict, Started: v.Started,
		Took: shortDuration(v.Finished.Sub(v.Started)), Notes: v.Notes, Headline: headline(v), NarrowedBy: v.NarrowedBy,
	}
	results := map[string]plan.Result{}
	counts := map[check.Verdict]int{}
	for _, r := range v.Results {
		results[r.Step] = r
		counts[r.Verdict]++
	}
	for _, c := range []check.Verdict{check.Passed, check.Partial, check.Failed, check.Unobserved, check.Blocked, check.NotApplicable} {
		if counts[c] > 0 {
			p.Counts = append(p.Counts, count{c, counts[c]})
		}
	}
	for i, s := range b.Plan.Steps {
		r, ok := results[s.Name]
		step := pageStep{Number: i + 1, Name: s.Name, Needs: s.Needs, Result: r, Omitted: !ok, Recommended: s.Recommended}
		if ok {
			if err := step.fill(b, charts); err != nil {
				return page{}, err
			}
		}
		p.Steps = append(p.Steps, step)
	}
	return p, nil
}

func (s *pageStep) fill(b *Bundle, charts ChartsFor) error {
	r := s.Result
	s.Took = shortDuration(r.Duration())
	for _, f := range r.Figures {
		s.Figures = append(s.Figures, newPageFigure(f))
	}
	obs, err := b.Observations(r.Observations)
	if err != nil {
		return err
	}
	s.Charts = drawCharts(r.Step, obs, charts)
	s.Seen = obs
	return nil
}

// headline is the verdict as a sentence.
func headline(v Verdicts) string {
	about := "Every criterion"
	switch {
	case v.Only != "":
		about = "Only " + v.Only + " was run: it"
	case len(v.NarrowedBy) > 0:
		about = "Every criterion that counts here"
	}
	switch v.Verdict {
	case check.Passed:
		return about + " was observed to hold."
	case check.Partial:
		return about + " was observed to hold on all nodes but those that are left out."
	case check.Failed:
		return "A criterion was observed not to hold. The findings name the suspect and the next action."
	case check.Unobserved, check.Blocked, check.NotApplicable:
		return "Not everything could be observed, and what was not observed is not passed."
	default:
		return "There is no verdict."
	}
}
