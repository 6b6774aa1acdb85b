package evidence

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/evidence/chart"
	"github.com/firstlight/firstlight/internal/evidence/junit"
	"github.com/firstlight/firstlight/internal/plan"
)

// scripted is a check that sees hosts and judges as told.
type scripted struct {
	name  string
	kinds []string
	judge check.Judgement
	err   error
}

func (s scripted) Name() string { return s.name }

func (s scripted) Observe(_ context.Context, rec check.Recorder) error {
	for _, kind := range s.kinds {
		for i := range 4 {
			_, err := rec.Record(check.Observation{
				Kind: kind, Target: fmt.Sprintf("gpu-%02d", i), Command: kind + " -j", Took: metav1.Duration{Duration: 1200 * time.Millisecond},
				Figures: json.RawMessage(`{}`), Raw: []byte("output"),
			})
			if err != nil {
				return err
			}
		}
	}
	return s.err
}

func (s scripted) Judge(obs []check.Observation) check.Judgement {
	j := s.judge
	j.Findings = slices.Clone(j.Findings)
	for i := range j.Findings {
		j.Findings[i].Observations = []string{obs[0].ID}
	}
	return j
}

// bringUpPlan is a run with every verdict that there is.
func bringUpPlan() plan.Plan {
	return plan.Plan{Name: "playbook", Steps: []plan.Step{
		{Check: scripted{name: "facility", kinds: []string{"site-facility"}, judge: check.Pass("signed by J. Doe until 2027-01-31, demand within budget",
			check.Figure{Name: "power demand", Value: 40.8, Unit: "kW", Limit: 120, Relation: "<=", Source: "site facility.power"},
			check.Figure{Name: "weight", Value: 522, Unit: "kg", Limit: 2000, Relation: "<=", Source: "site facility.weight"})}},
		{Check: scripted{name: "fabric", kinds: []string{"sminfo", "ibdiagnet"}, judge: check.Pass("one master, 48 links at 400 Gb/s")}, Needs: []string{"facility"}},
		{Check: scripted{name: "node"}, Needs: []string{"facility"}, NotApplicable: "the spine has no <nodes> & no hosts"},
		{Check: scripted{name: "collective", kinds: []string{"nccl-tests"}, judge: collectiveJudgement()}, Needs: []string{"fabric"}, GPUs: 32},
		{Check: scripted{name: "telemetry", kinds: []string{"prometheus-query"}, judge: check.Pass("fine"), err: errors.New("prometheus: connection refused")}, Needs: []string{"fabric"}},
		{Check: scripted{name: "training"}, Needs: []string{"collective"}, GPUs: 32},
	}}
}

func collectiveJudgement() check.Judgement {
	j := check.Fail("busbw at 8 GiB is 212.4 GB/s, at least 405 GB/s is demanded", check.Finding{
		Suspect: "gpu-02/mlx5_3", Message: "every pair with gpu-02 stays at 210 GB/s, all others reach 470 GB/s; rail 3 is missing from its rings <script>alert(1)</script>",
		Remedy: "reseat the cable of gpu-02/mlx5_3 to leaf-3/port5, then firstlight accept --from fabric",
	})
	j.Figures = []check.Figure{
		{Name: "busbw", Value: 212.4, Unit: "GB/s", Limit: 405, Relation: ">=", Source: "profile collective.minFraction x collective.ceilings: measured on eight rails"},
		{Name: "wrong elements", Value: 0, Unit: "1", Limit: 0, Relation: "==", Source: "nccl-tests"},
		{Name: "largest size", Value: 8589934592, Unit: "B", Limit: 8589934592, Relation: "=="},
		{Name: "ratio", Value: 0.00312, Unit: "", Limit: 0.01, Relation: "<="},
	}
	return j
}

func testCharts(step string, obs []check.Observation) []chart.Chart {
	if step != "collective" || len(obs) == 0 {
		return nil
	}
	good, bad := chart.Series{Name: "expected"}, chart.Series{Name: "median of 3"}
	for e := 10; e <= 33; e++ {
		x := math.Exp2(float64(e))
		good.Points = append(good.Points, chart.Point{X: x, Y: 450 * x / (x + 4e7)})
		bad.Points = append(bad.Points, chart.Point{X: x, Y: 214 * x / (x + 4e7)})
	}
	var ttft []float64
	ranks := chart.Series{Kind: chart.Ranges, Name: "ranks"}
	for i := range 40 {
		ttft = append(ttft, 120+float64(i*i)/9)
		ranks.Points = append(ranks.Points, chart.Spread(float64(i), []float64{2851, 2853, 2855 + float64(i%7), 2860}))
	}
	return []chart.Chart{
		{
			Title: "Bus bandwidth by message size", Note: "all_reduce over 4 nodes, 32 GPUs",
			X: chart.Axis{Label: "message size", Scale: chart.Bytes}, Y: chart.Axis{Label: "busbw, GB/s", Unit: "GB/s", Scale: chart.LinearZero},
			Series: []chart.Series{bad, good}, Limits: []chart.Limit{{Name: "demanded: 405 GB/s", Value: 405}},
		},
		{
			Title: "Time to first token", X: chart.Axis{Label: "ms", Unit: "ms", Scale: chart.LinearZero}, Y: chart.Axis{Label: "% of requests", Unit: "%", Scale: chart.Percent},
			Series: []chart.Series{chart.Distribution("TTFT", ttft)}, Limits: []chart.Limit{{Name: "objective p99", Value: 500, Vertical: true}},
		},
		{
			Title: "Step time by rank", X: chart.Axis{Label: "rank"}, Y: chart.Axis{Label: "ms"}, Series: []chart.Series{ranks},
		},
		{Title: "Nothing to draw"},
	}
}

func reported(t *testing.T) (dir string, file func(name string) []byte) {
	t.Helper()
	r := create(t, t.TempDir(), bringUpPlan())
	out := execute(t, r, plan.Executor{Plan: bringUpPlan()})
	out.Notes = append(out.Notes, "clean up after collective: pod x is still there")
	if err := r.Finish(out, testCharts); err != nil {
		t.Fatal(err)
	}
	return r.Dir(), func(name string) []byte {
		data, err := os.ReadFile(filepath.Join(r.Dir(), name))
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
}

func TestJUnit(t *testing.T) {
	t.Parallel()
	_, file := reported(t)
	got, err := junit.Read(file(junitFile))
	if err != nil {
		t.Fatal(err)
	}
	outcome := map[string]string{}
	for _, c := range got.Suite.Cases {
		switch {
		case c.Failure != nil:
			outcome[c.Name] = "failure: " + c.Failure.Message
		case c.Error != nil:
			outcome[c.Name] = "error: " + c.Error.Message
		case c.Skipped != nil:
			outcome[c.Name] = "skipped: " + c.Skipped.Message
		default:
			outcome[c.Name] = "passed"
		}
	}
	want := map[string]string{
		"facility": "passed", "fabric": "passed",
		"node":       "skipped: the spine has no <nodes> & no hosts",
		"collective": "failure: busbw at 8 GiB is 212.4 GB/s, at least 405 GB/s is demanded",
		"telemetry":  "error: prometheus: connection refused",
		"training":   "error: collective is failed",
	}
	if diff := cmp.Diff(want, outcome); diff != "" {
		t.Errorf("cases (-want +got):\n%s", diff)
	}
	s := got.Suite
	if s.Tests != 6 || s.Failures != 1 || s.Errors != 2 || s.Skipped != 1 || got.Tests != 6 || got.Failures != 1 {
		t.Errorf("counts %d/%d/%d/%d", s.Tests, s.Failures, s.Errors, s.Skipped)
	}
	if text := s.Cases[3].Failure.Text; !strings.Contains(text, "gpu-02/mlx5_3") || !strings.Contains(text, "Next: reseat") {
		t.Errorf("the failure does not say what to do: %q", text)
	}
}

func TestCTRF(t *testing.T) {
	t.Parallel()
	_, file := reported(t)
	var got ctrfDocument
	if err := json.Unmarshal(file(ctrfFile), &got); err != nil {
		t.Fatal(err)
	}
	status := map[string]string{}
	for _, c := range got.Results.Tests {
		status[c.Name] = c.Status + " " + c.RawStatus
	}
	want := map[string]string{
		"facility": "passed passed", "fabric": "passed passed", "node": "skipped not-applicable",
		"collective": "failed failed", "telemetry": "failed unobserved", "training": "pending blocked",
	}
	if diff := cmp.Diff(want, status); diff != "" {
		t.Errorf("tests (-want +got):\n%s", diff)
	}
	s := got.Results.Summary
	if s.Tests != 6 || s.Passed != 2 || s.Failed != 2 || s.Pending != 1 || s.Skipped != 1 || s.Stop < s.Start {
		t.Errorf("summary %+v", s)
	}
	if got.ReportFormat != "CTRF" || got.Results.Environment.TestEnvironment != "simulated" {
		t.Errorf("document %+v", got)
	}
}

// TestCTRFKeepsToItsSchema: keys that the format requires, and none that it
// does not know (its schema allows no additional ones).
func TestCTRFKeepsToItsSchema(t *testing.T) {
	t.Parallel()
	_, file := reported(t)
	var doc map[string]any
	if err := json.Unmarshal(file(ctrfFile), &doc); err != nil {
		t.Fatal(err)
	}
	keys := func(where string, v any, required, optional string) map[string]any {
		m, ok := v.(map[string]any)
		if !ok {
			t.Fatalf("%s is not an object", where)
		}
		for k := range strings.FieldsSeq(required) {
			if _, ok := m[k]; !ok {
				t.Errorf("%s lacks %s", where, k)
			}
		}
		for k := range m {
			if !strings.Contains(" "+required+" "+optional+" ", " "+k+" ") {
				t.Errorf("%s has %s, which the format does not know", where, k)
			}
		}
		return m
	}
	keys("document", doc, "results reportFormat specVersion", "reportId timestamp generatedBy extra")
	if !regexp.MustCompile(`^\d+\.\d+\.\d+$`).MatchString(fmt.Sprint(doc["specVersion"])) {
		t.Errorf("specVersion %v", doc["specVersion"])
	}
	if _, err := time.Parse(time.RFC3339, fmt.Sprint(doc["timestamp"])); err != nil {
		t.Error(err)
	}
	results := keys("results", doc["results"], "tool summary tests", "environment extra")
	keys("tool", results["tool"], "name", "version extra")
	keys("summary", results["summary"], "tests passed failed skipped pending other start stop", "flaky suites duration extra")
	keys("environment", results["environment"], "", "reportName appName appVersion testEnvironment healthy extra")
	tests, ok := results["tests"].([]any)
	if !ok || len(tests) != 6 {
		t.Fatalf("tests %v", results["tests"])
	}
	for _, one := range tests {
		c := keys("test", one, "name status duration", "start stop suite message trace rawStatus tags retries stdout attachments extra")
		if d, ok := c["duration"].(float64); !ok || d != math.Trunc(d) {
			t.Errorf("duration %v is not a whole number of ms", c["duration"])
		}
	}
}

func TestHTML(t *testing.T) {
	t.Parallel()
	dir, file := reported(t)
	html := string(file(reportFile))
	for _, want := range []string{
		"SIMULATED", "nodes carry kwok.x-k8s.io/node", "20261121-014233-0000",
		"reseat the cable", "Bus bandwidth by message size", "demanded: 405 GB/s", "212.4 <small>GB/s</small>", "≥ 405", "= 8 GiB",
		"the spine has no &lt;nodes&gt; &amp; no hosts", "prometheus: connection refused", "pod x is still there", "Evidence: 4 observations",
	} {
		if !strings.Contains(html, want) {
			t.Errorf("the report lacks %q", want)
		}
	}
	for _, bad := range []string{"<script", "http://", "https://", "Nothing to draw", "ZgotmplZ", "NaN"} {
		if strings.Contains(html, bad) {
			t.Errorf("the report has %q", bad)
		}
	}
	links := regexp.MustCompile(`href="(observations/[^"]+)"`).FindAllStringSubmatch(html, -1)
	if len(links) < 20 {
		t.Errorf("only %d links", len(links))
	}
	for _, l := range links {
		if _, err := os.Stat(filepath.Join(dir, l[1])); err != nil {
			t.Errorf("a link leads nowhere: %v", err)
		}
	}
}

func TestAnOmittedStepIsNeverGreen(t *testing.T) {
	t.Parallel()
	for only, want := range map[string]struct {
		verdict check.Verdict
		tests   int
	}{"": {check.Unobserved, 2}, "b": {check.Passed, 1}} {
		p := passingPlan()
		s := testStart(p)
		s.Header.Only = only
		r, err := Create(t.TempDir(), s, testOptions())
		if err != nil {
			t.Fatal(err)
		}
		out := execute(t, r, plan.Executor{Plan: p, Only: "b"})
		if err := r.Finish(out, nil); err != nil {
			t.Fatal(err)
		}
		b, err := Load(r.Dir())
		if err != nil {
			t.Fatal(err)
		}
		v := b.Summary()
		if v.Verdict != want.verdict || !cmp.Equal(v.Omitted, []string{"a"}) {
			t.Errorf("only %q: %s, omitted %v", only, v.Verdict, v.Omitted)
		}
		data, err := junitReport(b, v)
		if err != nil {
			t.Fatal(err)
		}
		suites, err := junit.Read(data)
		if err != nil || suites.Tests != want.tests || suites.Errors != want.tests-1 {
			t.Errorf("only %q: %d tests, %d errors, %v", only, suites.Tests, suites.Errors, err)
		}
		if replayed, err := Replay(r.Dir(), testChecks); err != nil || only != "" && !replayed.Identical() {
			t.Errorf("only %q: replay %+v, %v", only, replayed, err)
		}
	}
}

func TestADrawingThatPanicsCostsNoReport(t *testing.T) {
	t.Parallel()
	r := create(t, t.TempDir(), passingPlan())
	out := execute(t, r, plan.Executor{Plan: passingPlan()})
	if err := r.Finish(out, func(string, []check.Observation) []chart.Chart { panic("nil map") }); err != nil {
		t.Error(err)
	}
	if problems := mustVerify(t, r.Dir()); len(problems) != 0 {
		t.Errorf("verify: %s", problems)
	}
}

func TestNumber(t *testing.T) {
	t.Parallel()
	for v, want := range map[float64]string{
		0: "0", 8: "8", 8589934592: "8589934592", 212.4: "212.4", 1.23456: "1.235", 0.00312: "0.00312", 12345.678: "12345.7", -2.5: "-2.5",
	} {
		if got := number(v); got != want {
			t.Errorf("number(%v) = %s, want %s", v, got, want)
		}
	}
}
