package standing

import (
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/conformance/submission"
)

func TestJudgement(t *testing.T) {
	t.Parallel()
	has := func(a *Account) { a.Has("a is there") }
	lacks := func(a *Account) { a.Lacks("0001", "b", "is not there", "add it") }
	unseen := func(a *Account) { a.Unseen("0002", "c", "was not seen", "look again") }
	for name, tt := range map[string]struct {
		say    []func(*Account)
		status submission.Status
		want   check.Verdict
		says   string
	}{
		"nothing was seen":           {nil, "", check.Unobserved, "nothing was seen"},
		"all of it":                  {[]func(*Account){has, has}, submission.Implemented, check.Passed, "a is there; a is there"},
		"some of it":                 {[]func(*Account){has, lacks}, submission.PartiallyImplemented, check.Unobserved, "partially shown: a is there; not b: is not there"},
		"none of it":                 {[]func(*Account){lacks, lacks, lacks, lacks}, submission.NotImplemented, check.Failed, "and 1 more"},
		"some, and one was not seen": {[]func(*Account){has, unseen}, "", check.Unobserved, "c: was not seen"},
		"none, and one was not seen": {[]func(*Account){lacks, unseen}, "", check.Unobserved, "c: was not seen"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var a Account
			for _, say := range tt.say {
				say(&a)
			}
			j := a.Judgement()
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

func TestRead(t *testing.T) {
	t.Parallel()
	o := func(err string) check.Observation {
		return check.Observation{ID: "1", Kind: "nodes", Figures: []byte("3"), Err: err}
	}
	for name, tt := range map[string]struct {
		obs  []check.Observation
		says string
	}{
		"once":      {[]check.Observation{o("")}, "nothing was seen"},
		"never":     {nil, "0 times"},
		"twice":     {[]check.Observation{o(""), o("")}, "2 times"},
		"forbidden": {[]check.Observation{o("nodes is forbidden")}, "forbidden"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var a Account
			n, _, ok := Read[int](&a, tt.obs, "nodes")
			if ok != (name == "once") || ok && n != 3 {
				t.Errorf("%d %t", n, ok)
			}
			if j := a.Judgement(); j.Verdict != check.Unobserved || !strings.Contains(j.Reason, tt.says) {
				t.Errorf("%s: %s", j.Verdict, j.Reason)
			}
		})
	}
}
