package schedule

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/diag"
	"github.com/firstlight/firstlight/internal/plan"
	"github.com/firstlight/firstlight/internal/schedule/judge"
)

func cases(of ...string) []Case {
	var out []Case
	for _, name := range of {
		recipe, fingerprint, _ := strings.Cut(name, "=")
		c := Case{Recipe: recipe, Fingerprint: fingerprint}
		if fingerprint == "" {
			c.Problems = diag.List{{Message: "no scenario"}}
		}
		out = append(out, c)
	}
	return out
}

func TestOneOfEachClassIsTested(t *testing.T) {
	t.Parallel()
	s := OnePerClass(2, cases("long-name=x", "b=y", "short=x", "a-name=y", "broken", "broken-too", "other=x"))
	want := []string{"other", "b", "broken", "broken-too"}
	if diff := cmp.Diff(want, s.Names()); diff != "" {
		t.Errorf("tested: -want +got\n%s", diff)
	}
	if diff := cmp.Diff(map[string][]string{"other": {"short", "long-name"}, "b": {"a-name"}}, s.StandsFor); diff != "" {
		t.Errorf("stands for: -want +got\n%s", diff)
	}
}

func TestShardsAreTheWholeAndNoneTwice(t *testing.T) {
	t.Parallel()
	all := Each(3, cases("a=1", "b=2", "c=3", "d=4", "e=5"))
	for n := 1; n <= 7; n++ {
		var got []string
		for i := range n {
			got = append(got, all.Part(i, n).Names()...)
		}
		slices.Sort(got)
		if diff := cmp.Diff([]string{"a", "b", "c", "d", "e"}, got); diff != "" {
			t.Errorf("%d shards: -want +got\n%s", n, diff)
		}
	}
}

func outcome(verdicts map[string]check.Verdict) Outcome {
	began := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	o := Outcome{Began: began, Starting: 8 * time.Second, Run: "r", Evidence: "evidence/r"}
	for i, name := range []string{"a", "b", "c"} {
		v, ok := verdicts[name]
		if !ok {
			continue
		}
		at := began.Add(time.Duration(10+i) * time.Second)
		o.Results = append(o.Results, plan.Result{Step: name, Judgement: check.Judgement{
			Verdict: v, Figures: []check.Figure{{Name: judge.FigurePods, Value: 7}, {Name: judge.FigureNodes, Value: 4}, {Name: judge.FigureControls, Value: 5}},
		}, Started: began, At: at})
	}
	return o
}

func TestReportOfASelection(t *testing.T) {
	t.Parallel()
	s := Each(3, cases("a=x", "b=x", "c=y"))
	all := map[string]check.Verdict{"a": check.Passed, "b": check.Passed, "c": check.Passed}
	r := s.Report("recipes", outcome(all))
	if r.Verdict != check.Passed || r.Pods != 21 || r.Nodes != 12 || r.Controls != 15 || r.Seconds != 12 || r.StartSeconds != 8 || r.Recipes[0].Fingerprint != "x" {
		t.Errorf("got %+v", r)
	}
	tests := map[string]struct {
		change func(map[string]check.Verdict)
		want   check.Verdict
		reason string
	}{
		"members of a class disagree": {func(v map[string]check.Verdict) { v["b"] = check.Unobserved }, check.Failed, "class of a (x): a passed; b unobserved"},
		"a result is missing":         {func(v map[string]check.Verdict) { delete(v, "c") }, check.Unobserved, "1 without a result: c"},
		"one failed":                  {func(v map[string]check.Verdict) { v["c"] = check.Failed }, check.Failed, "1 failed: c"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := map[string]check.Verdict{"a": check.Passed, "b": check.Passed, "c": check.Passed}
			tt.change(v)
			r := s.Report("recipes", outcome(v))
			if r.Verdict != tt.want || !strings.Contains(r.Reason, tt.reason) {
				t.Errorf("got %s: %s", r.Verdict, r.Reason)
			}
		})
	}
	if r := (Selection{}).Report("recipes", Outcome{}); r.Verdict == check.Passed {
		t.Error("nothing was selected, and that passed")
	}
}
