package check_test

import (
	"encoding/json"
	"testing"

	"github.com/firstlight/firstlight/internal/check"
)

func TestJudgements(t *testing.T) {
	t.Parallel()
	own := check.Finding{Suspect: "gpu-01", Message: "hot", Remedy: "cool it"}
	if j := check.Fail("hot", own); j.Verdict != check.Failed || j.Reason != "hot" || len(j.Findings) != 1 || j.Findings[0].Suspect != "gpu-01" {
		t.Errorf("%+v", j)
	}
	if j := check.Fail("hot"); j.Verdict != check.Failed || len(j.Findings) != 1 || j.Findings[0].Suspect != "cluster" || j.Findings[0].Message != "hot" || j.Findings[0].Remedy == "" {
		t.Errorf("a mute failure: %+v", j)
	}
	if j := check.Pass("cool", check.Figure{Name: "a"}); j.Verdict != check.Passed || j.Reason != "cool" || len(j.Figures) != 1 {
		t.Errorf("%+v", j)
	}
	if j := check.NotObserved("dark", own); j.Verdict != check.Unobserved || j.Reason != "dark" || len(j.Findings) != 1 {
		t.Errorf("%+v", j)
	}
}

func TestParseVerdict(t *testing.T) {
	t.Parallel()
	for _, v := range []check.Verdict{check.Passed, check.Failed, check.Unobserved, check.Blocked, check.NotApplicable} {
		if got, err := check.ParseVerdict(string(v)); err != nil || got != v {
			t.Errorf("%s: %s %v", v, got, err)
		}
	}
	for _, word := range []string{"", "ok", "Passed"} {
		if got, err := check.ParseVerdict(word); err == nil || got != "" {
			t.Errorf("%q is %q", word, got)
		}
	}
}

// Decode returns an error for a failed observation, even if it has figures.
func TestDecode(t *testing.T) {
	t.Parallel()
	seen, err := check.Observation{Kind: "k", Target: "t"}.WithFigures(map[string]int{"n": 3})
	if err != nil {
		t.Fatal(err)
	}
	broken := seen
	broken.Err = "refused"
	for name, tt := range map[string]struct {
		o    check.Observation
		fine bool
	}{
		"seen": {seen, true}, "in error": {broken, false}, "without figures": {check.Observation{Kind: "k"}, false},
		"null":     {check.Observation{Kind: "k", Figures: []byte(" null\n")}, false},
		"not JSON": {check.Observation{Kind: "k", Figures: []byte("{")}, false},
	} {
		v, err := check.Decode[map[string]int](tt.o)
		if (err == nil) != tt.fine || tt.fine && v["n"] != 3 {
			t.Errorf("%s: %v %v", name, v, err)
		}
		if name != "not JSON" && tt.o.Failed() == tt.fine {
			t.Errorf("%s: failed is %v", name, tt.o.Failed())
		}
	}
	if _, err := seen.WithFigures(make(chan int)); err == nil {
		t.Error("WithFigures encodes a value that has no JSON form")
	}
	var none []int
	if o, err := seen.WithFigures(none); err != nil || string(o.Figures) != "[]" {
		t.Errorf("an empty list: %s %v", o.Figures, err)
	}
	if n, err := check.Decode[int](check.Observation{Figures: []byte("4")}); err != nil || n != 4 {
		t.Errorf("one digit: %d %v", n, err)
	}
	if o, err := seen.WithFigures(4); err != nil || !json.Valid(o.Figures) || string(o.Figures) != "4" {
		t.Errorf("%s %v", o.Figures, err)
	}
}

func TestOfKind(t *testing.T) {
	t.Parallel()
	obs := []check.Observation{{ID: "1", Kind: "a"}, {ID: "2", Kind: "b"}, {ID: "3", Kind: "a"}}
	if got := check.OfKind(obs, "a"); len(got) != 2 || got[0].ID != "1" || got[1].ID != "3" {
		t.Errorf("%+v", got)
	}
	if got := check.OfKind(obs, "c"); len(got) != 0 {
		t.Errorf("%+v", got)
	}
}
