package recommended

import (
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/conformance/submission"
)

func TestAssessment(t *testing.T) {
	t.Parallel()
	met := func(a *assessment) { a.met("a is present") }
	unmet := func(a *assessment) { a.unmet("0001", "b", "add it", "not found") }
	unknown := func(a *assessment) { a.unknown("0002", "c", "retry", "timed out") }
	for name, tt := range map[string]struct {
		add    []func(*assessment)
		status submission.Status
		want   check.Verdict
		says   string
	}{
		"nothing observed":        {nil, "", check.Unobserved, "nothing was observed"},
		"all parts":               {[]func(*assessment){met, met}, submission.Implemented, check.Passed, "a is present; a is present"},
		"some parts":              {[]func(*assessment){met, unmet}, submission.PartiallyImplemented, check.Unobserved, "partially shown: a is present; not b: not found"},
		"no part":                 {[]func(*assessment){unmet, unmet, unmet, unmet}, submission.NotImplemented, check.Failed, "and 1 more"},
		"some parts, one unknown": {[]func(*assessment){met, unknown}, "", check.Unobserved, "c: timed out"},
		"no part, one unknown":    {[]func(*assessment){unmet, unknown}, "", check.Unobserved, "c: timed out"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var a assessment
			for _, add := range tt.add {
				add(&a)
			}
			j := a.judgement()
			status, _ := submission.ShownBy(j.Verdict, j.Reason).Status()
			if j.Verdict != tt.want || status != tt.status || !strings.Contains(j.Reason, tt.says) {
				t.Errorf("%s, %q: %s", j.Verdict, status, j.Reason)
			}
			for _, f := range j.Findings {
				if len(f.Observations) != 1 || f.Remedy == "" {
					t.Errorf("no evidence or no remedy: %+v", f)
				}
			}
		})
	}
}

func TestRequire(t *testing.T) {
	t.Parallel()
	o := func(err string) check.Observation {
		return check.Observation{ID: "1", Kind: "nodes", Figures: []byte("3"), Err: err}
	}
	for name, tt := range map[string]struct {
		obs  []check.Observation
		says string
	}{
		"once":      {[]check.Observation{o("")}, "nothing was observed"},
		"never":     {nil, "was not observed"},
		"twice":     {[]check.Observation{o(""), o("")}, "was observed 2 times"},
		"forbidden": {[]check.Observation{o("nodes is forbidden")}, "forbidden"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var a assessment
			n, _, ok := require[int](&a, tt.obs, "nodes", "")
			if ok != (name == "once") || ok && n != 3 {
				t.Errorf("%d %t", n, ok)
			}
			if j := a.judgement(); j.Verdict != check.Unobserved || !strings.Contains(j.Reason, tt.says) {
				t.Errorf("%s: %s", j.Verdict, j.Reason)
			}
		})
	}
}
