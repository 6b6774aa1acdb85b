package inference

import (
	"testing"

	"github.com/firstlight/firstlight/internal/check"
)

// TestStalledClient: latencies beyond the objective are a failure of the
// server only when firstlight itself got to run. Its story: on a busy machine
// a healthy server was failed for 703 ms, of which the client had slept 282.
func TestStalledClient(t *testing.T) {
	t.Parallel()
	s := testSite()
	_, obs := walk(t, testGate(t, s), &vllm{})
	tests := map[string]struct {
		stall, objective float64
		want             check.Verdict
	}{
		"slow, the client ran":     {10, 0.001, check.Failed},
		"slow, the client stalled": {400, 0.001, check.Unobserved},
		"fast, the client stalled": {400, 5000, check.Passed},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			changed := append([]check.Observation(nil), obs...)
			for i, o := range changed {
				if o.Kind != KindLoad {
					continue
				}
				f, err := check.Decode[LoadFigures](o)
				if err != nil {
					t.Fatal(err)
				}
				f.ClientStall = tt.stall
				if changed[i], err = o.WithFigures(f); err != nil {
					t.Fatal(err)
				}
			}
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
