package schedule

import (
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/check"
)

func TestConclude(t *testing.T) {
	t.Parallel()
	passed := func(names ...string) []Result {
		var out []Result
		for _, n := range names {
			out = append(out, Result{Recipe: n, Verdict: check.Passed, Totals: Totals{Pods: 3, Nodes: 2, Controls: 5}})
		}
		return out
	}
	tests := map[string]struct {
		recipes  []Result
		expected []string
		want     check.Verdict
		reason   string
	}{
		"all passed":                   {passed("b", "a"), []string{"a", "b"}, check.Passed, "2 recipes passed"},
		"no recipes never pass":        {nil, nil, check.Unobserved, "no recipe was tested"},
		"none of those expected":       {nil, []string{"a"}, check.Unobserved, "no recipe was tested"},
		"one is missing":               {passed("a"), []string{"a", "b"}, check.Unobserved, "1 without a result: b"},
		"a duplicate":                  {passed("a", "a"), []string{"a"}, check.Unobserved, "duplicate: a"},
		"an unexpected recipe":         {passed("a", "c"), []string{"a"}, check.Unobserved, "unexpected or duplicate: c"},
		"one failed":                   {append(passed("a"), Result{Recipe: "b", Verdict: check.Failed}), []string{"a", "b"}, check.Failed, "1 failed: b"},
		"one unobserved":               {append(passed("a"), Result{Recipe: "b", Verdict: check.Unobserved}), []string{"a", "b"}, check.Unobserved, "1 unobserved: b"},
		"one without a verdict":        {append(passed("a"), Result{Recipe: "b"}), []string{"a", "b"}, check.Unobserved, ""},
		"one not applicable":           {append(passed("a"), Result{Recipe: "b", Verdict: check.NotApplicable}), []string{"a", "b"}, check.Unobserved, "1 not-applicable: b"},
		"failed and missing is failed": {[]Result{{Recipe: "b", Verdict: check.Failed}}, []string{"a", "b"}, check.Failed, "1 failed: b; 1 without a result: a"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := Report{Recipes: tt.recipes}
			r.Conclude(tt.expected)
			if r.Verdict != tt.want || !strings.Contains(r.Reason, tt.reason) {
				t.Errorf("got %s (%s), want %s (%s)", r.Verdict, r.Reason, tt.want, tt.reason)
			}
		})
	}
}

func TestJoin(t *testing.T) {
	t.Parallel()
	one := Report{Tree: "recipes", Recipes: []Result{{Recipe: "a", Verdict: check.Passed, StandsFor: []string{"x"}, Totals: Totals{Pods: 4}}}, Seconds: 3, Evidence: []string{"e1"}}
	two := Report{Tree: "recipes", Recipes: []Result{{Recipe: "b", Verdict: check.Passed, Totals: Totals{Pods: 5}}}, Seconds: 7, Evidence: []string{"e2"}}
	all := Join([]Report{two, one}, []string{"a", "b"})
	if all.Verdict != check.Passed || all.Pods != 9 || all.Covered != 1 || all.Seconds != 7 || len(all.Evidence) != 2 || all.Recipes[0].Recipe != "a" {
		t.Errorf("joined: %+v", all)
	}
	if lost := Join([]Report{one}, []string{"a", "b"}); lost.Verdict != check.Unobserved {
		t.Errorf("a shard is lost, and the verdict is %s", lost.Verdict)
	}
}
