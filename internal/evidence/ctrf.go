package evidence

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/plan"
)

// The Common Test Report Format, https://ctrf.io.
type ctrfDocument struct {
	ReportFormat string      `json:"reportFormat"`
	SpecVersion  string      `json:"specVersion"`
	Timestamp    string      `json:"timestamp"`
	GeneratedBy  string      `json:"generatedBy"`
	Results      ctrfResults `json:"results"`
}

type ctrfResults struct {
	Tool        ctrfTool        `json:"tool"`
	Summary     ctrfSummary     `json:"summary"`
	Tests       []ctrfTest      `json:"tests"`
	Environment ctrfEnvironment `json:"environment"`
}

type ctrfTool struct {
	Name    string `json:"name"`
	Version string `json:"version,omitempty"`
}

type ctrfSummary struct {
	Tests   int   `json:"tests"`
	Passed  int   `json:"passed"`
	Failed  int   `json:"failed"`
	Pending int   `json:"pending"`
	Skipped int   `json:"skipped"`
	Other   int   `json:"other"`
	Start   int64 `json:"start"`
	Stop    int64 `json:"stop"`
}

type ctrfTest struct {
	Name      string         `json:"name"`
	Status    string         `json:"status"`
	Duration  int64          `json:"duration"` // ms
	Start     int64          `json:"start,omitempty"`
	Stop      int64          `json:"stop,omitempty"`
	Suite     []string       `json:"suite"`
	Message   string         `json:"message,omitempty"`
	Trace     string         `json:"trace,omitempty"`
	RawStatus string         `json:"rawStatus"`
	Retries   int            `json:"retries,omitempty"`
	Stdout    []string       `json:"stdout,omitempty"`
	Extra     map[string]any `json:"extra,omitempty"`
}

type ctrfEnvironment struct {
	ReportName      string         `json:"reportName"`
	AppName         string         `json:"appName"`
	TestEnvironment string         `json:"testEnvironment"`
	Extra           map[string]any `json:"extra,omitempty"`
}

const ctrfSpecVersion = "0.0.0"

// ctrfReport writes one test per step. Status: failed for failed and unobserved, pending for
// blocked and omitted, skipped for not applicable, other for a recommended step that did not
// pass.
func ctrfReport(b *Bundle, v Verdicts) ([]byte, error) {
	where := map[Hardware]string{HardwareReal: "cluster", HardwareSimulated: "simulated"}[v.Simulated]
	if where == "" {
		where = v.Simulated.String()
	}
	doc := ctrfDocument{
		ReportFormat: "CTRF", SpecVersion: ctrfSpecVersion, GeneratedBy: "firstlight",
		Timestamp: v.Finished.UTC().Format("2006-01-02T15:04:05.000Z"),
		Results: ctrfResults{
			Tool:        ctrfTool{Name: "firstlight", Version: b.Header.Tool},
			Summary:     ctrfSummary{Start: v.Started.UnixMilli(), Stop: v.Finished.UnixMilli()},
			Tests:       []ctrfTest{},
			Environment: ctrfEnvironment{ReportName: b.Plan.Name + " " + v.Run, AppName: v.Site, TestEnvironment: where},
		},
	}
	if len(v.NarrowedBy) > 0 {
		doc.Results.Environment.ReportName += " (narrowed)"
		doc.Results.Environment.Extra = map[string]any{"narrowedBy": v.NarrowedBy}
	}
	for _, r := range v.Results {
		t := ctrfOf(b.Plan.Name, r)
		if v.Only == "" && slices.Contains(b.Recommended(), r.Step) && t.Status != "passed" && t.Status != "skipped" {
			t.Status, t.Message = "other", "recommended, "+t.RawStatus+": "+t.Message
		}
		doc.Results.add(t)
	}
	if v.Only == "" {
		for _, name := range v.Omitted {
			doc.Results.add(ctrfTest{
				Name: name, Status: "pending", RawStatus: "omitted", Suite: []string{b.Plan.Name},
				Message: "the step was not selected and has no earlier verdict",
			})
		}
	}
	if len(v.Uncleaned) > 0 {
		doc.Results.add(ctrfTest{
			Name: cleanUp, Status: "failed", RawStatus: string(check.Unobserved), Suite: []string{b.Plan.Name}, Message: strings.Join(v.Uncleaned, "\n"),
		})
	}
	if s := doc.Results.Summary; !v.Verdict.Holds() && s.Failed == 0 {
		doc.Results.add(ctrfTest{Name: verdictCase, Status: "failed", RawStatus: string(v.Verdict), Suite: []string{b.Plan.Name}, Message: unshown(v)})
	}
	data, err := json.MarshalIndent(doc, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("encode ctrf: %w", err)
	}
	return append(data, '\n'), nil
}

func (r *ctrfResults) add(t ctrfTest) {
	r.Tests = append(r.Tests, t)
	s := &r.Summary
	s.Tests++
	switch t.Status {
	case "passed":
		s.Passed++
	case "failed":
		s.Failed++
	case "pending":
		s.Pending++
	case "skipped":
		s.Skipped++
	default:
		s.Other++
	}
}

func ctrfOf(planName string, r plan.Result) ctrfTest {
	t := ctrfTest{
		Name: r.Step, Suite: []string{planName}, RawStatus: string(r.Verdict),
		Duration: r.Duration().Milliseconds(), Message: r.Reason,
	}
	if !r.Started.IsZero() {
		t.Start, t.Stop = r.Started.UnixMilli(), r.Finished.UnixMilli()
	}
	if r.Attempt > 1 {
		t.Retries = r.Attempt - 1
	}
	switch r.Verdict {
	case check.Passed:
		t.Status = "passed"
	case check.Partial: // neither passed nor failed
		t.Status, t.Trace = "other", findingLines(r)
	case check.Failed, check.Unobserved:
		t.Status, t.Trace = "failed", findingLines(r)
	case check.Blocked:
		t.Status = "pending"
	case check.NotApplicable:
		t.Status = "skipped"
	default:
		t.Status = "other"
	}
	if len(r.Figures) > 0 || len(r.Findings) > 0 {
		t.Extra = map[string]any{"figures": r.Figures, "findings": r.Findings}
	}
	return t
}
