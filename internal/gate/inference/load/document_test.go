package load

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func plan() Plan {
	return Plan{
		URL: "http://inference.firstlight-r1.svc:8000", Model: "m", Prompt: "a b c", RatePerSecond: 10, Requests: 3, Warmup: 1,
		InputTokens: 8, OutputTokens: 4, ReachSeconds: 20, TimeoutSeconds: 60,
	}
}

func loaded() Figures {
	f := plan().figures()
	for i := range 3 {
		f.Requests = append(f.Requests, Request{Due: float64(i) * 100, Sent: float64(i)*100 + 0.5, TTFT: new(20.), TPOT: new(5.), E2E: new(35.), Tokens: 4, FromUsage: true})
	}
	f.WarmupRequests = []Request{{Error: "HTTP status 503"}}
	f.Seconds, f.ClientStall, f.ITL = 0.25, 1, Percentiles{5, 6, 7}
	return f
}

func document(t *testing.T, p Plan, f Figures) string {
	t.Helper()
	var out bytes.Buffer
	began := time.Date(2026, 11, 21, 1, 0, 0, 0, time.UTC)
	if err := Write(&out, p, f, began, began.Add(time.Second)); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestDocumentIsReadAsItWasWritten(t *testing.T) {
	t.Parallel()
	for name, log := range map[string]string{
		"alone":         document(t, plan(), loaded()),
		"between lines": "a warning of the runtime\n" + document(t, plan(), loaded()) + "the end\n",
		"unreached":     document(t, plan(), func() Figures { f := plan().figures(); f.Unreached = "no such host"; return f }()),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := Read([]byte(log), plan())
			if err != nil {
				t.Fatal(err)
			}
			want := loaded()
			if name == "unreached" {
				want = plan().figures()
				want.Unreached = "no such host"
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Each line counts: a log that was cut, rotated or changed is not a result.
func TestDamagedDocumentsAreRefused(t *testing.T) {
	t.Parallel()
	whole := document(t, plan(), loaded())
	lines := strings.SplitAfter(strings.TrimSuffix(whole, "\n"), "\n")
	other := plan()
	other.RatePerSecond = 5
	long := loaded()
	long.Seconds = 7
	late := loaded()
	late.Requests[2].Sent = 90_000
	after := loaded()
	after.Requests[2].E2E = new(90_000.)
	for name, tt := range map[string]struct{ log, want string }{
		"empty":                          {"", "no result"},
		"an answer after the load":       {document(t, plan(), after), "request 2 was answered after 90200 ms"},
		"no document":                    {"panic: out of memory\n", "no result"},
		"another plan":                   {document(t, other, loaded()), "the load is of plan sha256:"},
		"a changed plan":                 {strings.Replace(whole, `"ratePerSecond":10`, `"ratePerSecond":5`, 1), "the load is of plan"},
		"a changed request":              {strings.Replace(whole, `"ttftMs":20`, `"ttftMs":10`, 1), "lost or changed"},
		"a changed figure":               {strings.Replace(whole, `"clientStallMs":1`, `"clientStallMs":0`, 1), "lost or changed"},
		"an unknown field":               {strings.Replace(whole, `"n":1`, `"n":1,"x":1`, 1), "unknown field"},
		"two results":                    {whole + whole, "a second result"},
		"two begins":                     {lines[0] + whole, "unexpected begin"},
		"no begin":                       {strings.Join(lines[1:], ""), "unexpected warmup"},
		"a request that is out of order": {strings.Join([]string{lines[0], lines[1], lines[3]}, ""), "request 1 where 0"},
		"longer than its process":        {document(t, plan(), long), "its process only 1s"},
		"sent after the end":             {document(t, plan(), late), "request 2 was sent after 90000 ms"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := Read([]byte(tt.log), plan()); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
	for i := range lines {
		t.Run(fmt.Sprintf("without line %d", i), func(t *testing.T) {
			t.Parallel()
			if f, err := Read([]byte(strings.Join(append(append([]string{}, lines[:i]...), lines[i+1:]...), "")), plan()); err == nil {
				t.Errorf("read %+v", f)
			}
		})
	}
}

func TestParsePlan(t *testing.T) {
	t.Parallel()
	text, err := plan().JSON()
	if err != nil {
		t.Fatal(err)
	}
	if got, err := ParsePlan(text); err != nil || got != plan() {
		t.Errorf("%+v, %v", got, err)
	}
	for _, bad := range []string{"", "{}", `{"url":1}`, strings.Replace(text, `"requests":3`, `"requests":0`, 1), strings.Replace(text, `"url"`, `"uri"`, 1), strings.Replace(text, `"concurrency":0`, `"concurrency":-1`, 1)} {
		if _, err := ParsePlan(bad); err == nil {
			t.Errorf("plan %q was accepted", bad)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(`{"format":"firstlight-load/1","kind":"begin","at":"2026-11-21T01:00:00Z","n":0}`))
	f.Fuzz(func(t *testing.T, log []byte) {
		if got, err := Read(log, plan()); err == nil && len(got.Requests) == 0 && got.Unreached == "" {
			t.Errorf("read %+v", got)
		}
	})
}
