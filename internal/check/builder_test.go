package check_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	testingclock "k8s.io/utils/clock/testing"

	"github.com/firstlight/firstlight/internal/check"
)

func TestBuilderJudgement(t *testing.T) {
	t.Parallel()
	fail := func(b *check.Builder) { b.Fail("1", "gpu-01", "cool it", "is %d C", 99) }
	dark := func(b *check.Builder) { b.Unobserved("2", "gpu-02", "run the check again", "gpu-02 was not observed") }
	note := func(b *check.Builder) { b.Note("", "gpu-03", "read it", "is old") }
	for name, tt := range map[string]struct {
		add      []func(*check.Builder)
		passed   string
		verdict  check.Verdict
		reason   string
		findings int
	}{
		"nothing, without a reason": {nil, "", check.Unobserved, "nothing was measured", 0},
		"a reason":                  {nil, "8 GPUs", check.Passed, "8 GPUs", 0},
		"a note":                    {[]func(*check.Builder){note}, "8 GPUs", check.Passed, "8 GPUs", 1},
		"failed":                    {[]func(*check.Builder){note, fail}, "8 GPUs", check.Failed, "gpu-01: is 99 C", 2},
		"failed twice":              {[]func(*check.Builder){fail, fail}, "8 GPUs", check.Failed, "gpu-01: is 99 C (and 1 more)", 2},
		"unobserved":                {[]func(*check.Builder){dark, note}, "8 GPUs", check.Unobserved, "gpu-02 was not observed", 2},
		"failed and unobserved":     {[]func(*check.Builder){dark, fail}, "8 GPUs", check.Failed, "gpu-01: is 99 C", 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var b check.Builder
			for _, add := range tt.add {
				add(&b)
			}
			b.Figure(check.Figure{Name: "GPUs", Value: 8})
			j := b.Judgement(tt.passed)
			if j.Verdict != tt.verdict || j.Reason != tt.reason || len(j.Findings) != tt.findings || len(j.Figures) != 1 {
				t.Errorf("%+v", j)
			}
		})
	}
}

func TestMergeSuspects(t *testing.T) {
	t.Parallel()
	var b check.Builder
	b.Fail("1", "a", "first", "hot")
	b.Fail("2", "b", "other", "cold")
	b.Fail("2", "a", "second", "slow")
	b.Fail("1", "a", "third", "hot")
	b.MergeSuspects()
	want := []check.Finding{
		{Suspect: "a", Message: "hot; slow", Remedy: "first", Observations: []string{"1", "2"}},
		{Suspect: "b", Message: "cold", Remedy: "other", Observations: []string{"2"}},
	}
	if diff := cmp.Diff(want, b.Judgement("").Findings); diff != "" {
		t.Error(diff)
	}
}

func TestOmitUnobservedIfFailed(t *testing.T) {
	t.Parallel()
	var b check.Builder
	b.Unobserved("1", "pod a", "read the log", "has no log")
	b.OmitUnobservedIfFailed()
	if j := b.Judgement(""); j.Verdict != check.Unobserved || len(j.Findings) != 1 {
		t.Errorf("nothing failed: %+v", j)
	}
	b.Fail("1", "job", "read the log", "crashed")
	b.OmitUnobservedIfFailed()
	if j := b.Judgement(""); j.Verdict != check.Failed || len(j.Findings) != 1 || j.Findings[0].Suspect != "job" {
		t.Errorf("the job failed: %+v", j)
	}
}

func TestRequire(t *testing.T) {
	t.Parallel()
	o := func(id, target, figures, err string) check.Observation {
		return check.Observation{ID: id, Kind: "k", Target: target, Figures: []byte(figures), Err: err}
	}
	for name, tt := range map[string]struct {
		obs        []check.Observation
		target     string
		only, last int // 0: unobserved
		reason     string
	}{
		"none":               {nil, "", 0, 0, "it: was not observed"},
		"one":                {[]check.Observation{o("1", "a", "3", "")}, "", 3, 3, ""},
		"of another target":  {[]check.Observation{o("1", "a", "3", "")}, "b", 0, 0, "it: was not observed"},
		"one of each target": {[]check.Observation{o("1", "a", "3", ""), o("2", "b", "4", "")}, "b", 4, 4, ""},
		"two":                {[]check.Observation{o("1", "a", "3", ""), o("2", "a", "4", "")}, "a", 0, 4, "it: was observed 2 times, want exactly one observation"},
		"in error":           {[]check.Observation{o("1", "a", "", "refused")}, "", 0, 0, "it: could not be observed: k on a: refused"},
		"no JSON":            {[]check.Observation{o("1", "a", "{", "")}, "", 0, 0, "it: could not be observed: decode figures of k on a: unexpected end of JSON input"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var only, last check.Builder
			if v, _, ok := check.Require[int](&only, tt.obs, "k", tt.target, "it", "look"); v != tt.only || ok != (tt.only > 0) {
				t.Errorf("Require: %d, %v", v, ok)
			}
			if v, _, ok := check.RequireLast[int](&last, tt.obs, "k", tt.target, "it", "look"); v != tt.last || ok != (tt.last > 0) {
				t.Errorf("RequireLast: %d, %v", v, ok)
			}
			if j := only.Judgement("fine"); tt.only == 0 && (j.Verdict != check.Unobserved || j.Reason != tt.reason) || tt.only > 0 && j.Verdict != check.Passed {
				t.Errorf("%+v", j)
			}
		})
	}
}

type store struct {
	stored []check.Observation
	err    error
}

func (s *store) Record(o check.Observation) (check.Observation, error) {
	s.stored = append(s.stored, o)
	o.ID = "0001"
	return o, s.err
}

func (*store) Progress(string, ...any) {}

func TestObserver(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	clock := testingclock.NewFakePassiveClock(at)
	var s store
	observer := check.Observer{Recorder: &s, Clock: clock}
	seen := observer.Begin("k", "node", "get nodes").Raw([]byte("raw"))
	clock.SetTime(at.Add(time.Second))
	if o, err := seen.Store(3, nil); err != nil || o.ID != "0001" {
		t.Errorf("%+v, %v", o, err)
	}
	if err := seen.Record(3, errors.New("refused")); err != nil {
		t.Error(err)
	}
	want := []check.Observation{
		{Kind: "k", Target: "node", Command: "get nodes", At: at, Took: metav1.Duration{Duration: time.Second}, Figures: []byte("3"), Raw: []byte("raw")},
		{Kind: "k", Target: "node", Command: "get nodes", At: at, Took: metav1.Duration{Duration: time.Second}, Err: "refused", Raw: []byte("raw")},
	}
	if diff := cmp.Diff(want, s.stored); diff != "" {
		t.Error(diff)
	}
	s.err = errors.New("disk full")
	if err := seen.Record(3, nil); !errors.Is(err, s.err) {
		t.Errorf("%v", err)
	}
	if err := seen.Record(make(chan int), nil); err == nil {
		t.Error("figures without JSON are stored")
	}
}

// Findings are listed by their effect, each by itself.
func TestFindings(t *testing.T) {
	t.Parallel()
	var b check.Builder
	b.Fail("1", "gpu-01", "r", "hot")
	b.FailLasting("2", "gpu-01", "r", "lost")
	b.Fail("3", "gpu-02", "r", "slow")
	b.Unobserved("4", "gpu-03", "r", "silent")
	b.Note("5", "gpu-04", "r", "noted")
	messages := func(findings []check.Finding) string {
		var out []string
		for _, f := range findings {
			out = append(out, f.Message)
		}
		return strings.Join(out, ", ")
	}
	all := b.Findings()
	if messages(all.Failed) != "hot, slow" || messages(all.Lasting) != "lost" || messages(all.Unobserved) != "silent" || messages(all.Notes) != "noted" {
		t.Errorf("%+v", all)
	}
	if j := b.Judgement(""); j.Verdict != check.Failed || b.Failures() != 3 {
		t.Errorf("%+v", j)
	}
}
