package inference

import (
	"slices"
	"testing"
	"time"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/plan"
	"github.com/firstlight/firstlight/internal/site"
)

// Objectives hold at themselves and not a hair below; a demand of the site that does not is
// named by its part of the answer.
func TestObjectivesHoldAtThemselves(t *testing.T) {
	t.Parallel()
	figure := func(t *testing.T, g *Gate, name string) float64 {
		t.Helper()
		j := plan.Judge(g, served(t, g))
		i := slices.IndexFunc(j.Figures, func(f check.Figure) bool { return f.Name == name })
		if i < 0 {
			t.Fatalf("no figure %s: %+v", name, j)
		}
		return j.Figures[i].Value
	}
	for name, tt := range map[string]struct {
		figure  string
		set     func(w *site.InferenceWorkload, limit time.Duration)
		suspect string
	}{
		"TTFT": {"TTFT p99", func(w *site.InferenceWorkload, l time.Duration) { w.TTFTp99 = site.Duration(l) }, "server of job inference (TTFT)"},
		"TPOT": {"TPOT p99", func(w *site.InferenceWorkload, l time.Duration) { w.TPOTp99 = site.Duration(l) }, "server of job inference (TPOT)"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := testSite()
			value := time.Duration(figure(t, testGate(t, s), tt.figure) * float64(time.Millisecond))
			obs := loads(t, served(t, testGate(t, s)), func(f *LoadFigures) { f.ClientStall = 0 })
			tt.set(&s.Workloads.Inference, value+time.Microsecond)
			if j := plan.Judge(testGate(t, s), obs); j.Verdict != check.Passed {
				t.Errorf("at the objective: %s: %s", j.Verdict, j.Reason)
			}
			tt.set(&s.Workloads.Inference, value-time.Microsecond)
			if j := plan.Judge(testGate(t, s), obs); j.Verdict != check.Failed || j.Findings[0].Suspect != tt.suspect || len(j.Findings) != 1 {
				t.Errorf("above the objective: %s: %s: %+v", j.Verdict, j.Reason, j.Findings)
			}
		})
	}
}

// A request may wait to be sent for as long as a first token may take.
func TestTheRateIsKept(t *testing.T) {
	t.Parallel()
	g := testGate(t, testSite())
	late := func(ms float64) []check.Observation {
		return loads(t, served(t, g), func(f *LoadFigures) {
			f.ClientStall = 0
			f.Requests[7].Sent = f.Requests[7].Due + ms
		})
	}
	if j := plan.Judge(g, late(5000)); j.Verdict != check.Passed {
		t.Errorf("at the objective: %s: %s", j.Verdict, j.Reason)
	}
	j := g.Judge(late(5001))
	if j.Verdict != check.Failed || j.Findings[0].Suspect != "server of job inference (rate)" {
		t.Errorf("beyond the objective: %s: %+v", j.Verdict, j.Findings)
	}
	if j := plan.Judge(g, late(-0.9)); j.Verdict != check.Passed {
		t.Errorf("sent early by rounding: %s: %s", j.Verdict, j.Reason)
	}
	if j := plan.Judge(g, late(-1.1)); j.Verdict != check.Unobserved {
		t.Errorf("sent before its time: %s: %s", j.Verdict, j.Reason)
	}
}

// Each request is judged: one that failed, was empty, short or of one token is one too many.
func TestEachRequestCounts(t *testing.T) {
	t.Parallel()
	g := testGate(t, testSite())
	for name, tt := range map[string]struct {
		change  func(f *LoadFigures)
		verdict check.Verdict
		suspect string
	}{
		"one failed":            {func(f *LoadFigures) { f.Requests[3].Error = "HTTP 500" }, check.Failed, "requests to job inference"},
		"one without tokens":    {func(f *LoadFigures) { f.Requests[3].Tokens = 0 }, check.Failed, "tokens of model " + testModel},
		"one without a TTFT":    {func(f *LoadFigures) { f.Requests[3].TTFT = nil }, check.Failed, "tokens of model " + testModel},
		"one without an end":    {func(f *LoadFigures) { f.Requests[3].E2E = nil }, check.Failed, "tokens of model " + testModel},
		"one of one token":      {func(f *LoadFigures) { f.Requests[3].TPOT = nil }, check.Unobserved, "tokens of model " + testModel},
		"one that is short":     {func(f *LoadFigures) { f.Requests[3].Tokens = 3 }, check.Failed, "length of answers of model " + testModel},
		"a TTFT below zero":     {func(f *LoadFigures) { f.Requests[3].TTFT = new(-0.1) }, check.Unobserved, "firstlight's own machine"},
		"a TPOT below zero":     {func(f *LoadFigures) { f.Requests[3].TPOT = new(-0.1) }, check.Unobserved, "firstlight's own machine"},
		"an end below zero":     {func(f *LoadFigures) { f.Requests[3].E2E = new(-0.1) }, check.Unobserved, "firstlight's own machine"},
		"no time at all":        {func(f *LoadFigures) { f.Seconds = 0 }, check.Unobserved, "job inference"},
		"a request too few":     {func(f *LoadFigures) { f.Requests = f.Requests[1:] }, check.Unobserved, "job inference"},
		"a request too many":    {func(f *LoadFigures) { f.Requests = append(f.Requests, f.Requests[0]) }, check.Unobserved, "job inference"},
		"a warm-up too short":   {func(f *LoadFigures) { f.WarmupRequests = f.WarmupRequests[1:] }, check.Unobserved, "job inference"},
		"a warm-up that failed": {func(f *LoadFigures) { f.WarmupRequests[0].Error, f.Requests = "HTTP 503", nil }, check.Failed, "requests to job inference"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			j := plan.Judge(g, loads(t, served(t, g), tt.change))
			if j.Verdict != tt.verdict || !slices.ContainsFunc(j.Findings, func(f check.Finding) bool { return f.Suspect == tt.suspect }) {
				t.Errorf("%s: %s: %+v", j.Verdict, j.Reason, j.Findings)
			}
		})
	}
}
