package validate

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/firstlight/firstlight/internal/accept"
	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/conformance/submission"
	"github.com/firstlight/firstlight/internal/pipeline"
)

// reportOf is a report in which every check has the verdict, but those that are named.
func reportOf(c Case, verdict check.Verdict, but map[string]check.Verdict) accept.Report {
	r := accept.Report{Run: "r", Verdict: verdict}
	for _, s := range c.Order.Steps {
		names, err := c.names(s)
		if err != nil || s.Name == stepArtifacts {
			continue
		}
		for _, name := range names {
			v, ok := but[name]
			if !ok {
				v = verdict
			}
			r.Gates = append(r.Gates, accept.Gate{Gate: name, Verdict: v, Reason: name + " is " + string(v), Duration: 1})
		}
	}
	return r
}

func TestReport(t *testing.T) {
	t.Parallel()
	c := caseFor(t, pipeline.Training, 32)
	for name, tt := range map[string]struct {
		but  map[string]check.Verdict
		step string
		want check.Verdict
		says string
	}{
		"all is shown":            {nil, "conformance", check.Passed, ""},
		"one requirement failed":  {map[string]check.Verdict{"gang_scheduling": check.Failed}, "conformance", check.Failed, "gang_scheduling: gang_scheduling is failed"},
		"one was not seen":        {map[string]check.Verdict{"ai_inference": check.Unobserved}, "conformance", check.Unobserved, "ai_inference: "},
		"one is not offered":      {map[string]check.Verdict{"cluster_autoscaling": check.NotApplicable}, "conformance", check.Passed, "1 not applicable"},
		"a step is blocked":       {map[string]check.Verdict{"training": check.Blocked}, "intent", check.Blocked, "training is blocked"},
		"health failed, and that": {map[string]check.Verdict{"health": check.Failed}, "health", check.Failed, "health is failed"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, err := c.Report(reportOf(c, check.Passed, tt.but))
			if err != nil || len(r.Steps) != len(c.Order.Steps)-1 {
				t.Fatalf("%d steps, %v", len(r.Steps), err)
			}
			for i, s := range r.Steps {
				if s.Number != i+1 || s.Title == "" || len(s.Checks) == 0 {
					t.Errorf("%+v", s)
				}
				if s.Name == tt.step && (s.Verdict != tt.want || !contains(s.Reason, tt.says)) {
					t.Errorf("%s: %s", s.Verdict, s.Reason)
				}
			}
			through, err := r.Through(tt.step)
			if err != nil || through.Verdict != tt.want || through.Steps[len(through.Steps)-1].Name != tt.step {
				t.Errorf("through %s: %s, %v", tt.step, through.Verdict, err)
			}
		})
	}
}

// A recommendation changes no verdict of the step or the run, and the report has its status;
// if it runs alone, its verdict is the verdict of the step.
func TestRecommendationsFailNothing(t *testing.T) {
	t.Parallel()
	c := caseFor(t, pipeline.Training, 32)
	w := reportOf(c, check.Passed, map[string]check.Verdict{"gpu_sharing": check.Failed, "virtualized_accelerator": check.Unobserved, "high_performance_networking": check.NotApplicable})
	for i, g := range w.Gates {
		if g.Gate == "disaggregated_inference" {
			w.Gates[i].Verdict, w.Gates[i].Reason = check.Unobserved, "partially shown: an operator is installed"
		}
	}
	r, err := c.Report(w)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]submission.Status{
		"driver_runtime_management": submission.Implemented, "gpu_sharing": submission.NotImplemented, "virtualized_accelerator": "",
		"advanced_inference_ingress": submission.Implemented, "high_performance_networking": submission.NotApplicable, "disaggregated_inference": submission.PartiallyImplemented,
	}
	step := r.Steps[slices.IndexFunc(r.Steps, func(s Step) bool { return s.Name == stepConformance })]
	got := map[string]submission.Status{}
	for _, one := range step.Recommended {
		got[one.Gate.Gate] = one.Status
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	says := "9 of 9 shown; of 6 recommended: 2 Implemented, 1 Not Implemented, 1 Partially Implemented, 1 N/A, 1 open"
	if step.Verdict != check.Passed || step.Reason != says || len(step.Checks) != 9 {
		t.Errorf("%s: %s", step.Verdict, step.Reason)
	}
	alone, err := c.Report(accept.Report{Run: "r", Verdict: check.Failed, Gates: []accept.Gate{{Gate: "gpu_sharing", Verdict: check.Failed, Reason: "not found"}}})
	if err != nil || len(alone.Steps) != 1 || alone.Steps[0].Verdict != check.Failed || alone.Steps[0].Reason != "not found" {
		t.Errorf("%+v, %v", alone.Steps, err)
	}
	data, err := json.Marshal(step.Recommended[1])
	if err != nil || !contains(string(data), `"gate":"gpu_sharing"`) || !contains(string(data), `"status":"Not Implemented"`) {
		t.Errorf("%s, %v", data, err)
	}
}
