package plan

import (
	"math"
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/check"
)

func TestJudge(t *testing.T) {
	t.Parallel()
	thing := check.Observation{Kind: "thing", Figures: []byte(`{}`)}
	broke := check.Observation{Kind: KindError, Err: "no route to host"}
	prepared := check.Observation{Kind: KindPrepare}
	says := func(j check.Judgement) func([]check.Observation) check.Judgement {
		return func([]check.Observation) check.Judgement { return j }
	}
	tests := map[string]struct {
		judge  func([]check.Observation) check.Judgement
		obs    []check.Observation
		want   check.Verdict
		reason string
	}{
		"passed":                            {nil, []check.Observation{thing}, check.Passed, "seen"},
		"nothing observed":                  {nil, nil, check.Unobserved, "nothing was observed"},
		"only prepared":                     {nil, []check.Observation{prepared}, check.Unobserved, "nothing was observed"},
		"only an error":                     {nil, []check.Observation{broke}, check.Unobserved, "no route"},
		"passed but observing broke off":    {nil, []check.Observation{thing, broke}, check.Unobserved, "no route"},
		"an error without a message":        {nil, []check.Observation{thing, {Kind: KindError}}, check.Unobserved, "without a message"},
		"failed and observing broke off":    {says(check.Fail("bad")), []check.Observation{thing, broke}, check.Failed, "bad"},
		"panic":                             {func([]check.Observation) check.Judgement { panic("index") }, []check.Observation{thing}, check.Unobserved, "panicked: index"},
		"zero judgement":                    {says(check.Judgement{}), []check.Observation{thing}, check.Unobserved, "unknown verdict"},
		"unknown word":                      {says(check.Judgement{Verdict: "ok"}), []check.Observation{thing}, check.Unobserved, "unknown verdict"},
		"blocked is not a check's to say":   {says(check.Judgement{Verdict: check.Blocked}), []check.Observation{thing}, check.Unobserved, "only the plan may set"},
		"a check cannot excuse itself":      {says(check.Judgement{Verdict: check.NotApplicable}), []check.Observation{thing}, check.Unobserved, "only the plan may set"},
		"a figure that is not a number":     {says(check.Pass("p", check.Figure{Name: "busbw", Value: math.NaN()})), []check.Observation{thing}, check.Unobserved, "finite numbers"},
		"a limit that is not a number":      {says(check.Pass("p", check.Figure{Name: "busbw", Limit: math.Inf(1)})), []check.Observation{thing}, check.Unobserved, "finite numbers"},
		"a pass below its own limit":        {says(check.Pass("p", check.Figure{Name: "busbw", Value: 10, Unit: "GB/s", Limit: 350, Relation: ">="})), []check.Observation{thing}, check.Unobserved, "busbw is 10 GB/s, want >= 350"},
		"a pass above its own limit":        {says(check.Pass("p", check.Figure{Name: "TTFT", Value: 501, Unit: "ms", Limit: 500, Relation: "<="})), []check.Observation{thing}, check.Unobserved, "TTFT is 501 ms"},
		"a pass with another count":         {says(check.Pass("p", check.Figure{Name: "GPUs", Value: 7, Limit: 8, Relation: "=="})), []check.Observation{thing}, check.Unobserved, "GPUs is 7"},
		"a pass with an unknown relation":   {says(check.Pass("p", check.Figure{Name: "GPUs", Value: 7, Limit: 8, Relation: "~"})), []check.Observation{thing}, check.Unobserved, "relation"},
		"a pass on its limit":               {says(check.Pass("p", check.Figure{Name: "busbw", Value: 350, Limit: 350, Relation: ">="})), []check.Observation{thing}, check.Passed, "p"},
		"slower than expected":              {says(check.Pass("p", check.Figure{Name: "up path", Value: 90, Unit: "s", Limit: 60, Relation: check.Expected})), []check.Observation{thing}, check.Passed, "p"},
		"a failure below its limit":         {says(check.Judgement{Verdict: check.Failed, Reason: "slow", Figures: []check.Figure{{Name: "busbw", Value: 10, Limit: 350, Relation: ">="}}}), []check.Observation{thing}, check.Failed, "slow"},
		"a negative time":                   {says(check.Pass("p", check.Figure{Name: "TTFT", Value: -5, Unit: "ms", Limit: 500, Relation: "<="})), []check.Observation{thing}, check.Unobserved, "not be negative"},
		"more than all of it":               {says(check.Pass("p", check.Figure{Name: "utilisation", Value: 4e9, Unit: "%", Limit: 50, Relation: ">="})), []check.Observation{thing}, check.Unobserved, "at most 100 %"},
		"an MFU above the peak":             {says(check.Pass("p", check.Figure{Name: "MFU", Value: 4.1, Unit: "fraction", Limit: 0.36, Relation: ">="})), []check.Observation{thing}, check.Unobserved, "at most 1"},
		"failed without a finding gets one": {says(check.Judgement{Verdict: check.Failed, Reason: "mute"}), []check.Observation{thing}, check.Failed, "mute"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := Judge(fakeCheck{name: "c", judge: tt.judge}, tt.obs)
			if got.Verdict != tt.want || !strings.Contains(got.Reason, tt.reason) {
				t.Errorf("judged %s %q, want %s %q", got.Verdict, got.Reason, tt.want, tt.reason)
			}
			if got.Verdict != check.Passed && len(got.Findings) == 0 {
				t.Error("not passed, and no finding says what to do")
			}
		})
	}
}

// The failed preparation of a gate that does not pass is its first finding, and begins its reason: an operator that Helm
// had rolled back was only reported as missing.
func TestFailedPreparationIsAFinding(t *testing.T) {
	t.Parallel()
	thing := check.Observation{Kind: "thing", Figures: []byte(`{}`)}
	prepared := func(exit int, raw, err string) check.Observation {
		return check.Observation{ID: "0001", Kind: KindPrepare, Command: "helm upgrade", Exit: &exit, Raw: []byte(raw), Err: err}
	}
	for name, c := range map[string]struct {
		prepared check.Observation
		passes   bool
		want     string
	}{
		"failed":                    {prepared(1, "one\ntwo\n", ""), false, "exit status 1: two"},
		"could not run":             {prepared(-1, "", "no such file"), false, "no such file"},
		"succeeded":                 {prepared(0, "done\n", ""), false, ""},
		"failed, the gate does not": {prepared(1, "one\n", ""), true, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			j := Judge(fakeCheck{name: "c", judge: func([]check.Observation) check.Judgement {
				if c.passes {
					return check.Pass("ok")
				}
				return check.Fail("bad")
			}}, []check.Observation{c.prepared, thing})
			if c.want == "" {
				for _, f := range j.Findings {
					if strings.HasPrefix(f.Suspect, "preparation") {
						t.Errorf("a finding: %+v", f)
					}
				}
				if strings.Contains(j.Reason, "preparation") {
					t.Errorf("the reason is %q", j.Reason)
				}
				return
			}
			if want := "preparation failed: " + c.want + "; bad"; j.Reason != want {
				t.Errorf("the reason is %q, want %q", j.Reason, want)
			}
			if f := j.Findings[0]; f.Suspect != "preparation helm upgrade" || f.Message != c.want || len(f.Observations) != 1 || len(j.Findings) != 2 {
				t.Errorf("the findings are %+v, want one more, first, that says %q", j.Findings, c.want)
			}
		})
	}
}

func TestJudgeHandsOverOnlyTheChecksOwnObservations(t *testing.T) {
	t.Parallel()
	var kinds []string
	c := fakeCheck{name: "c", judge: func(obs []check.Observation) check.Judgement {
		for _, o := range obs {
			kinds = append(kinds, o.Kind)
		}
		return check.Pass("ok")
	}}
	Judge(c, []check.Observation{{Kind: KindPrepare}, {Kind: "thing"}, {Kind: KindError, Err: "x"}})
	if strings.Join(kinds, " ") != "thing" {
		t.Errorf("the check saw %v", kinds)
	}
}

// lowering is a check whose site demands less than its profile.
type lowering struct{ fakeCheck }

func (lowering) Lowered() []string { return []string{"minMFU is 0.1, the profile's is 0.36"} }

func TestAPassSaysWhatIsLowered(t *testing.T) {
	t.Parallel()
	obs := []check.Observation{{Kind: "thing", Figures: []byte(`{}`)}}
	if j := Judge(lowering{fakeCheck{name: "c"}}, obs); j.Verdict != check.Passed || len(j.Lowered) != 1 {
		t.Errorf("%+v", j)
	}
	failing := lowering{fakeCheck{name: "c", judge: func([]check.Observation) check.Judgement { return check.Fail("bad") }}}
	if j := Judge(failing, obs); j.Verdict != check.Failed || len(j.Lowered) != 0 {
		t.Errorf("%+v", j)
	}
}
