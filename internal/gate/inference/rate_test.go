package inference

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/check"
)

// Latencies count from the sending of a request. A server that sustained a tenth of the rate
// passed, since requests waited in the client; so did answers that were cut short, and times
// below zero.
func TestALoadThatWasNotTheSites(t *testing.T) {
	t.Parallel()
	s := testSite()
	g := testGate(t, s)
	_, obs := observeAndJudge(t, g, &fakeVLLM{})
	late := func(f *LoadFigures, ms float64) { f.Requests[19].Sent = f.Requests[19].Due + ms }
	for name, tt := range map[string]struct {
		spoil   func(f *LoadFigures)
		end     func(f *ServerFigures)
		verdict check.Verdict
		saying  string
	}{
		"as it was":                   {verdict: check.Passed},
		"a little late":               {spoil: func(f *LoadFigures) { late(f, 4900) }, verdict: check.Passed},
		"the rate is not kept":        {spoil: func(f *LoadFigures) { late(f, 570_000) }, verdict: check.Failed, saying: "the offered rate of 200 requests/s is not met"},
		"late since the client slept": {spoil: func(f *LoadFigures) { late(f, 570_000); f.ClientStall = 6000 }, verdict: check.Unobserved, saying: "firstlight was not scheduled"},
		"an answer cut short":         {spoil: func(f *LoadFigures) { f.Requests[3].Tokens = 2 }, verdict: check.Failed, saying: "1 of 20 answers have fewer than the requested 4 tokens, the shortest has 2"},
		"an answer in fewer pieces, which the server does not count": {
			spoil: func(f *LoadFigures) { f.Requests[3].Tokens, f.Requests[3].FromUsage = 2, false }, verdict: check.Unobserved, saying: "does not report their number of tokens",
		},
		"requests wait in the server's queue": {
			spoil: func(f *LoadFigures) { wait := 6000.0; f.Queue = &wait }, verdict: check.Failed, saying: "the mean wait in its queue is 6000 ms",
		},
		"a short queue":          {spoil: func(f *LoadFigures) { wait := 4900.0; f.Queue = &wait }, verdict: check.Passed},
		"a pause in the answers": {spoil: func(f *LoadFigures) { f.ITL.P99, f.ClientStall = 5100, 0 }, verdict: check.Failed, saying: "time between tokens (ITL) is 5100 ms"},
		"a pause since the client slept": {
			spoil: func(f *LoadFigures) { f.ITL.P99, f.ClientStall = 5100, 5000 }, verdict: check.Unobserved, saying: "firstlight was not scheduled",
		},
		"no time between tokens": {spoil: func(f *LoadFigures) { f.ITL = Percentiles{} }, verdict: check.Unobserved, saying: "no time between tokens"},
		"a first token before it was asked for": {
			spoil: func(f *LoadFigures) { early := -5.0; f.Requests[3].TTFT = &early }, verdict: check.Unobserved, saying: "negative times",
		},
		"a request sent before its time": {spoil: func(f *LoadFigures) { late(f, -50_000) }, verdict: check.Unobserved, saying: "negative times"},
		"no rate at all":                 {spoil: func(f *LoadFigures) { f.Seconds = 0 }, verdict: check.Unobserved, saying: "the duration of the load"},
		"another rate":                   {spoil: func(f *LoadFigures) { f.RatePerSecond /= 2 }, verdict: check.Unobserved, saying: "differs from the site's"},
		"not healthy in the end":         {end: func(f *ServerFigures) { f.Healthy = false }, verdict: check.Failed, saying: "not healthy after the load"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			seen := slices.Clone(obs)
			for i, o := range seen {
				switch {
				case o.Kind == KindLoad && tt.spoil != nil:
					seen[i] = respoilt(t, o, tt.spoil)
				case o.Kind == KindEnd && tt.end != nil:
					seen[i] = respoilt(t, o, tt.end)
				}
			}
			j := g.Judge(seen)
			if j.Verdict != tt.verdict {
				t.Fatalf("%s: %s", j.Verdict, j.Reason)
			}
			if tt.saying != "" && !slices.ContainsFunc(j.Findings, func(f check.Finding) bool { return strings.Contains(f.Message, tt.saying) }) {
				t.Errorf("nothing says %q: %+v", tt.saying, j.Findings)
			}
		})
	}
}

// respoilt is an observation with other figures.
func respoilt[T any](t *testing.T, o check.Observation, spoil func(*T)) check.Observation {
	t.Helper()
	var f T
	if err := json.Unmarshal(o.Figures, &f); err != nil {
		t.Fatal(err)
	}
	spoil(&f)
	o, err := o.WithFigures(f)
	if err != nil {
		t.Fatal(err)
	}
	return o
}
