package inference

import (
	"slices"
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/plan"
)

func all(f *LoadFigures, set func(q *Request)) {
	for i := range f.Requests {
		set(&f.Requests[i])
	}
}

// The limits of the test's site are 5000 ms for TTFT and ITL and 3000 ms for TPOT; an answer has
// 4 tokens, so that a stall is in three gaps. A stall of 150 ms explains 300 ms.
func TestLimitsOfLatency(t *testing.T) {
	t.Parallel()
	const server = "server of job inference"
	ttft := func(ms float64) func(*LoadFigures) {
		return func(f *LoadFigures) { all(f, func(q *Request) { q.TTFT = &ms }) }
	}
	tpot := func(ms float64) func(*LoadFigures) {
		return func(f *LoadFigures) { all(f, func(q *Request) { q.TPOT = &ms }) }
	}
	itl := func(ms float64) func(*LoadFigures) { return func(f *LoadFigures) { f.ITL.P99 = ms } }
	late := func(ms float64) func(*LoadFigures) {
		return func(f *LoadFigures) { f.Requests[7].Sent = f.Requests[7].Due + ms }
	}
	queue := func(ms float64) func(*LoadFigures) { return func(f *LoadFigures) { f.Queue = &ms } }
	stall := func(ms float64) func(*LoadFigures) { return func(f *LoadFigures) { f.ClientStall = ms } }
	simulated := func(late, latest float64) func(*LoadFigures) {
		return func(f *LoadFigures) { f.ServerLate = &ServerLate{Sum: late, Max: latest} }
	}
	metrics := func(ttft, itl float64) func(*LoadFigures) {
		return func(f *LoadFigures) { f.ServerTTFT, f.ServerITL = &ttft, &itl }
	}
	none := func(*LoadFigures) {}
	for name, tt := range map[string]struct {
		changes []func(*LoadFigures)
		verdict check.Verdict
		suspect string
	}{
		"a TTFT at its limit":                                       {[]func(*LoadFigures){ttft(5000)}, check.Passed, ""},
		"a TPOT at its limit":                                       {[]func(*LoadFigures){tpot(3000)}, check.Passed, ""},
		"an ITL at its limit":                                       {[]func(*LoadFigures){itl(5000)}, check.Passed, ""},
		"an ITL above its limit":                                    {[]func(*LoadFigures){itl(5001)}, check.Failed, server + " (ITL)"},
		"an ITL of a millisecond":                                   {[]func(*LoadFigures){itl(1)}, check.Passed, ""},
		"a queue at the limit":                                      {[]func(*LoadFigures){queue(5000)}, check.Passed, ""},
		"a queue above the limit":                                   {[]func(*LoadFigures){queue(5001)}, check.Failed, server + " (rate)"},
		"sent too late, with a TTFT at its limit":                   {[]func(*LoadFigures){late(5001), ttft(5000)}, check.Failed, server + " (rate)"},
		"sent too late, with a TPOT at its limit":                   {[]func(*LoadFigures){late(5001), tpot(3000)}, check.Failed, server + " (rate)"},
		"sent a millisecond early":                                  {[]func(*LoadFigures){late(-1)}, check.Passed, ""},
		"a TTFT that a stall explains":                              {[]func(*LoadFigures){ttft(5300), stall(150)}, check.Unobserved, "firstlight's own machine"},
		"a TTFT that a stall does not explain":                      {[]func(*LoadFigures){ttft(5301), stall(150)}, check.Failed, server + " (TTFT)"},
		"a TPOT that a stall explains":                              {[]func(*LoadFigures){tpot(3100), stall(150)}, check.Unobserved, "firstlight's own machine"},
		"a TPOT that a stall does not explain":                      {[]func(*LoadFigures){tpot(3101), stall(150)}, check.Failed, server + " (TPOT)"},
		"an ITL that a stall explains":                              {[]func(*LoadFigures){itl(5300), stall(150)}, check.Unobserved, "firstlight's own machine"},
		"an ITL that a stall does not explain":                      {[]func(*LoadFigures){itl(5301), stall(150)}, check.Failed, server + " (ITL)"},
		"a delay of sending that a stall explains":                  {[]func(*LoadFigures){late(5300), stall(150)}, check.Unobserved, "firstlight's own machine"},
		"a delay of sending that a stall does not explain":          {[]func(*LoadFigures){late(5301), stall(150)}, check.Failed, server + " (rate)"},
		"a slow server, and a stall at its maximum":                 {[]func(*LoadFigures){ttft(9000), stall(250)}, check.Failed, server + " (TTFT)"},
		"a slow server, and a stall above its maximum":              {[]func(*LoadFigures){ttft(9000), stall(250.1)}, check.Unobserved, "firstlight's own machine"},
		"a slow server, and a simulation as late as it may be":      {[]func(*LoadFigures){ttft(9000), simulated(500, 250)}, check.Failed, server + " (TTFT)"},
		"a slow server, and a simulation that is once too late":     {[]func(*LoadFigures){ttft(9000), simulated(500, 250.1)}, check.Unobserved, "firstlight's own machine"},
		"a slow server, and a simulation that is late for too long": {[]func(*LoadFigures){ttft(9000), simulated(500.1, 250)}, check.Unobserved, "firstlight's own machine"},
		"a TTFT that a simulated server's stall explains":           {[]func(*LoadFigures){ttft(5200), stall(0), simulated(0, 200)}, check.Unobserved, "firstlight's own machine"},
		"a slow path to a server at its limits":                     {[]func(*LoadFigures){ttft(9000), metrics(5000, 3000)}, check.Unobserved, "firstlight's own machine"},
		"a server with a TTFT above its limit":                      {[]func(*LoadFigures){ttft(9000), metrics(5001, 3000)}, check.Failed, server + " (TTFT)"},
		"a server with gaps above the limit":                        {[]func(*LoadFigures){ttft(9000), metrics(5000, 3001)}, check.Failed, server + " (TTFT)"},
		"a server whose metrics have no gaps":                       {[]func(*LoadFigures){ttft(9000), metrics(5000, 3000), func(f *LoadFigures) { f.ServerITL = nil }}, check.Failed, server + " (TTFT)"},
		"a server whose metrics have no TTFT":                       {[]func(*LoadFigures){ttft(9000), metrics(5000, 3000), func(f *LoadFigures) { f.ServerTTFT = nil }}, check.Failed, server + " (TTFT)"},
		"a server in time that was asked as late as it may be":      {[]func(*LoadFigures){ttft(9000), metrics(5000, 3000), late(5000)}, check.Unobserved, "firstlight's own machine"},
		"a server in time that was asked too late":                  {[]func(*LoadFigures){ttft(9000), metrics(5000, 3000), late(5001)}, check.Failed, server + " (TTFT)"},
		"a warm-up that failed before a whole load":                 {[]func(*LoadFigures){func(f *LoadFigures) { f.WarmupRequests[0].Error = "HTTP 503" }}, check.Passed, ""},
		"nothing changed":                                           {[]func(*LoadFigures){none}, check.Passed, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := testGate(t, testSite())
			obs := loads(t, served(t, g), func(f *LoadFigures) {
				f.ClientStall, f.WarmupRequests = 0, slices.Clone(f.WarmupRequests)
				for _, change := range tt.changes {
					change(f)
				}
			})
			j := plan.Judge(g, obs)
			if j.Verdict != tt.verdict || tt.suspect != "" && !slices.ContainsFunc(j.Findings, func(f check.Finding) bool { return f.Suspect == tt.suspect }) {
				t.Errorf("%s: %s: %+v", j.Verdict, j.Reason, j.Findings)
			}
		})
	}
}

// An objective of a millisecond is one; without any, latencies are not judged.
func TestObjectivesOfAMillisecond(t *testing.T) {
	t.Parallel()
	for limit, want := range map[float64]check.Verdict{1: check.Passed, 0: check.Unobserved} {
		s := testSite()
		w := &s.Workloads.Inference
		w.TTFTp99, w.TPOTp99, w.ITLp99 = 0, 0, 0
		for name, zero := range map[string]func(g *Gate){
			"TTFT": func(g *Gate) { g.profile.Inference.TTFTp99.Value = limit },
			"TPOT": func(g *Gate) { g.profile.Inference.TPOTp99.Value = limit },
			"ITL":  func(g *Gate) { g.profile.Inference.ITLp99.Value = limit },
		} {
			g := testGate(t, s)
			zero(g)
			obs := loads(t, served(t, g), func(f *LoadFigures) {
				half := 0.5
				f.ClientStall, f.ITL = 0, Percentiles{P50: half, P90: half, P99: half}
				all(f, func(q *Request) { q.TTFT, q.TPOT = &half, &half })
			})
			if j := plan.Judge(g, obs); j.Verdict != want || limit == 0 && j.Findings[0].Suspect != "site workloads.inference" {
				t.Errorf("%s objective %g ms: %s: %s", name, limit, j.Verdict, j.Reason)
			}
		}
	}
}

func TestALoadOfOneRequestIsALoad(t *testing.T) {
	t.Parallel()
	s := testSite()
	s.Workloads.Inference.Requests, s.Workloads.Inference.Warmup = 1, 0
	g := testGate(t, s)
	if j := plan.Judge(g, loads(t, served(t, g), func(f *LoadFigures) { f.ITL.P99 = 9 })); j.Verdict != check.Passed {
		t.Errorf("%s: %s", j.Verdict, j.Reason)
	}
}

// A load without requests never passes, even where the site declares it.
func TestALoadOfNoRequestsIsNotAPass(t *testing.T) {
	t.Parallel()
	s := testSite()
	s.Workloads.Inference.Requests, s.Workloads.Inference.Warmup = 0, 0
	g := testGate(t, s)
	if j := plan.Judge(g, served(t, g)); j.Verdict != check.Unobserved {
		t.Errorf("%s: %s", j.Verdict, j.Reason)
	}
}

// One cause has one finding: its consequences, and unobserved parts, are omitted.
func TestConsequencesHaveNoFinding(t *testing.T) {
	t.Parallel()
	late := func(f *LoadFigures) { f.Requests[7].Sent = f.Requests[7].Due + 5001 }
	for name, tt := range map[string]struct {
		load    func(*LoadFigures)
		models  func(*ModelsFigures)
		suspect string
	}{
		"a failed request has no length":                       {load: func(f *LoadFigures) { f.Requests[3].Error, f.Requests[3].Tokens = "HTTP 500", 2 }, suspect: "requests to job inference"},
		"a failed request and one that timed out":              {load: func(f *LoadFigures) { f.Requests[3].Error, f.Requests[4].TimedOut = "HTTP 500", true }, suspect: "requests to job inference"},
		"a slow TTFT delays requests in the client":            {load: func(f *LoadFigures) { late(f); all(f, func(q *Request) { q.TTFT = new(5001.) }) }, suspect: "server of job inference (TTFT)"},
		"a slow TPOT delays requests in the client":            {load: func(f *LoadFigures) { late(f); all(f, func(q *Request) { q.TPOT = new(3001.) }) }, suspect: "server of job inference (TPOT)"},
		"a failed request of the models lists no other models": {models: func(f *ModelsFigures) { f.Failure, f.Models = "HTTP 500", nil }, suspect: "server of job inference"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := testGate(t, testSite())
			obs := served(t, g)
			for i, o := range obs {
				switch {
				case o.Kind == KindLoad && tt.load != nil:
					obs[i] = respoilt(t, o, func(f *LoadFigures) { f.ClientStall = 0; tt.load(f) })
				case o.Kind == KindModels && tt.models != nil:
					obs[i] = respoilt(t, o, tt.models)
				}
			}
			j := plan.Judge(g, obs)
			if j.Verdict != check.Failed || len(j.Findings) != 1 || j.Findings[0].Suspect != tt.suspect {
				t.Errorf("%s: %+v", j.Verdict, j.Findings)
			}
		})
	}
}

func TestTheServersQueueIsAFigure(t *testing.T) {
	t.Parallel()
	g := testGate(t, testSite())
	j := plan.Judge(g, loads(t, served(t, g), func(f *LoadFigures) { f.Queue = new(12.) }))
	if !slices.ContainsFunc(j.Figures, func(f check.Figure) bool { return f.Name == "mean wait in the server's queue" && f.Value == 12 }) {
		t.Errorf("%+v", j.Figures)
	}
}

func TestALoweredSiteIsReported(t *testing.T) {
	t.Parallel()
	s := testSite()
	s.Workloads.Inference.Requests = 1
	if got := testGate(t, s).Lowered(); !slices.ContainsFunc(got, func(text string) bool { return strings.Contains(text, "workloads.inference.requests is 1") }) {
		t.Errorf("%q", got)
	}
}
