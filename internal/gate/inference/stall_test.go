package inference

import (
	"testing"

	"github.com/firstlight/firstlight/internal/check"
)

// TestStalledClient: latencies beyond the objective are a failure of the
// server only when firstlight itself got to run. Its story: on a busy machine
// a healthy server was failed for 703 ms, of which the client had slept 282; another for
// 606 ms, with 249.8 of at most 250; on a busier one the lab's server was late at every
// step, while the client was in time; and once an answer was kept back for a second by the
// API server's proxy, which did not get to run while both ends did.
func TestStalledMachine(t *testing.T) {
	t.Parallel()
	s := testSite()
	_, obs := observeAndJudge(t, testGate(t, s), &fakeVLLM{})
	tests := map[string]struct {
		stall, objective float64
		late             *ServerLate
		server           float64 // p99 of TTFT by its metrics; 0: they do not tell
		want             check.Verdict
	}{
		"slow, the client ran":                           {10, 500, nil, 0, check.Failed},
		"slow, the client stalled":                       {400, 500, nil, 0, check.Unobserved},
		"fast, the client stalled":                       {400, 5000, nil, 0, check.Passed},
		"slow by less than the client stalled twice":     {60, 500, nil, 0, check.Unobserved},
		"slow, a simulated server ran":                   {10, 500, &ServerLate{Sum: 200, Max: 20}, 0, check.Failed},
		"slow, a simulated server was late at each step": {10, 500, &ServerLate{Sum: 3000, Max: 20}, 0, check.Unobserved},
		"slow, a simulated server stalled once":          {10, 500, &ServerLate{Sum: 400, Max: 400}, 0, check.Unobserved},
		"fast, a simulated server was late at each step": {10, 5000, &ServerLate{Sum: 3000, Max: 20}, 0, check.Passed},
		"slow on the way, the server was in time":        {10, 500, nil, 500, check.Unobserved},
		"slow on the way and in the server":              {10, 500, nil, 750, check.Failed},
		"fast, and slow in the server's metrics":         {10, 5000, nil, 750, check.Passed},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			changed := slow(t, obs, func(f *LoadFigures) {
				f.ClientStall, f.ServerLate, f.Seconds = tt.stall, tt.late, 4
				f.ServerTTFT, f.ServerITL = nil, nil
				if tt.server > 0 {
					f.ServerTTFT, f.ServerITL = &tt.server, new(25.)
				}
			})
			own := *s
			own.Workloads.Inference.TTFTp99 = 0
			g := testGate(t, &own)
			g.profile.Inference.TTFTp99.Value = tt.objective
			if j := g.Judge(changed); j.Verdict != tt.want {
				t.Errorf("%s (%s), want %s", j.Verdict, j.Reason, tt.want)
			}
		})
	}
}

// slow is what was observed, with a TTFT of 606 ms in all requests, and changed as well.
func slow(t *testing.T, obs []check.Observation, change func(*LoadFigures)) []check.Observation {
	t.Helper()
	return loads(t, obs, func(f *LoadFigures) {
		for i := range f.Requests {
			f.Requests[i].TTFT = new(606.)
		}
		change(f)
	})
}

// loads is what was observed, with every load changed.
func loads(t *testing.T, obs []check.Observation, change func(*LoadFigures)) []check.Observation {
	t.Helper()
	changed := append([]check.Observation(nil), obs...)
	for i, o := range changed {
		if o.Kind != KindLoad {
			continue
		}
		f, err := check.Decode[LoadFigures](o)
		if err != nil {
			t.Fatal(err)
		}
		change(&f)
		if changed[i], err = o.WithFigures(f); err != nil {
			t.Fatal(err)
		}
	}
	return changed
}
