package validate

import (
	"testing"

	"github.com/firstlight/firstlight/internal/accept"
	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/pipeline"
)

// walked is a report in which every check has the verdict, but those that are named.
func walked(c Case, verdict check.Verdict, but map[string]check.Verdict) accept.Report {
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
			r, err := c.Report(walked(c, check.Passed, tt.but))
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
