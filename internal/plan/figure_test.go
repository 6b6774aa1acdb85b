package plan

import (
	"math"
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/check"
)

// A figure at its limit or at the end of its range is valid; the next value beyond is invalid.
func TestFiguresAtTheirLimits(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		figure check.Figure
		says   string // empty: it may be the figure of a pass
	}{
		"zero":                         {check.Figure{Name: "a", Unit: "ms"}, ""},
		"negative":                     {check.Figure{Name: "a", Value: -0.001, Unit: "ms"}, "must not be negative"},
		"a temperature below zero":     {check.Figure{Name: "a", Value: -5, Unit: "C"}, ""},
		"all of it":                    {check.Figure{Name: "a", Value: 100, Unit: "%"}, ""},
		"more than all of it":          {check.Figure{Name: "a", Value: 100.5, Unit: "%"}, "at most 100 %"},
		"the whole":                    {check.Figure{Name: "a", Value: 1, Unit: "fraction"}, ""},
		"more than the whole":          {check.Figure{Name: "a", Value: 1.5, Unit: "fraction"}, "at most 1"},
		"a hundred of something":       {check.Figure{Name: "a", Value: 1000, Unit: "GB/s"}, ""},
		"at most, at it":               {check.Figure{Name: "a", Value: 5, Limit: 5, Relation: "<="}, ""},
		"at most, above it":            {check.Figure{Name: "a", Value: 5.1, Limit: 5, Relation: "<="}, "a is 5.1"},
		"at least, at it":              {check.Figure{Name: "a", Value: 5, Limit: 5, Relation: ">="}, ""},
		"at least, below it":           {check.Figure{Name: "a", Value: 4.9, Limit: 5, Relation: ">="}, "a is 4.9"},
		"just it":                      {check.Figure{Name: "a", Value: 5, Limit: 5, Relation: "=="}, ""},
		"not it":                       {check.Figure{Name: "a", Value: 6, Limit: 5, Relation: "=="}, "a is 6"},
		"infinite":                     {check.Figure{Name: "a", Value: math.Inf(-1)}, "finite numbers"},
		"a limit that is not a number": {check.Figure{Name: "a", Limit: math.NaN()}, "finite numbers"},
		"nothing is demanded":          {check.Figure{Name: "a", Value: 5, Limit: 1}, ""},
		"more than is expected":        {check.Figure{Name: "a", Value: 5, Limit: 1, Relation: check.Expected}, ""},
		"an unknown relation":          {check.Figure{Name: "a", Value: 5, Limit: 5, Relation: "="}, "unknown relation"},
	} {
		j := Judge(fakeCheck{name: "c", judge: func([]check.Observation) check.Judgement { return check.Pass("p", tt.figure) }}, []check.Observation{{Kind: "thing"}})
		if (j.Verdict == check.Passed) != (tt.says == "") || !strings.Contains(j.Reason, tt.says) {
			t.Errorf("%s: %s: %s", name, j.Verdict, j.Reason)
		}
	}
}

// A failure may have figures beyond their limits; no judgement may have a figure that is not a number.
func TestFiguresOfAFailure(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		value float64
		want  check.Verdict
	}{"not be negative": {-1, check.Failed}, "finite numbers": {math.NaN(), check.Unobserved}} {
		j := Judge(fakeCheck{name: "c", judge: func([]check.Observation) check.Judgement {
			j := check.Fail("bad")
			j.Figures = []check.Figure{{Name: "a", Value: tt.value}}
			return j
		}}, []check.Observation{{Kind: "thing"}})
		if j.Verdict != tt.want {
			t.Errorf("%s: %s: %s", name, j.Verdict, j.Reason)
		}
	}
}

// The finding of a failure is its own.
func TestAFailureKeepsItsFinding(t *testing.T) {
	t.Parallel()
	own := check.Finding{Suspect: "gpu-01", Message: "hot", Remedy: "cool it"}
	j := Judge(fakeCheck{name: "c", judge: func([]check.Observation) check.Judgement { return check.Fail("bad", own) }}, []check.Observation{{Kind: "thing"}})
	if len(j.Findings) != 1 || j.Findings[0].Suspect != "gpu-01" {
		t.Errorf("%+v", j)
	}
}

func TestBlocked(t *testing.T) {
	t.Parallel()
	results := map[string]Result{}
	for step, v := range map[string]check.Verdict{"a": check.Passed, "b": check.NotApplicable, "g": check.NotApplicable, "c": check.Failed, "d": check.Unobserved, "e": check.Blocked} {
		results[step] = Result{Step: step, Judgement: check.Judgement{Verdict: v}}
	}
	for needs, want := range map[string]string{
		"": "", "a": "", "b": "x has no verdict", "a b": "x has no verdict", "c": "c is failed", "d": "d is unobserved", "e": "e is blocked", "f": "f has no verdict", "a c f": "c is failed; f has no verdict",
	} {
		j, blocked := Blocked("x", Needs{"x": strings.Fields(needs), "b": {"a", "g"}, "g": {"b", "x"}}, results)
		if blocked != (want != "") || j.Reason != want || blocked && j.Verdict != check.Blocked {
			t.Errorf("%q: %v %+v", needs, blocked, j)
		}
	}
	if j := NotApplicable("not ours"); j.Verdict != check.NotApplicable || j.Reason != "not ours" {
		t.Errorf("%+v", j)
	}
}
