package prom_test

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/firstlight/firstlight/internal/probe/prom"
)

func TestParseHistogram(t *testing.T) {
	t.Parallel()
	const text = `# TYPE wait histogram
wait_bucket{engine="0",le="0.3"} 1
wait_bucket{engine="0",le="+Inf"} 3
wait_sum{engine="0"} 4.5
wait_count{engine="0"} 3
wait_bucket{engine="1",le="+Inf"} 1
wait_sum{engine="1"} 0.5
wait_count{engine="1"} 1
# TYPE other gauge
other 3
`
	want := prom.Histogram{Count: 4, Sum: 5, AtMost: map[float64]float64{0.3: 1, math.Inf(1): 4}}
	got, err := prom.ParseHistogram([]byte(text), "wait")
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v\n%s", err, diff)
	}
	if bound, ok := got.Within(0.2); !ok || bound != 0.3 {
		t.Errorf("a fifth is within %v, %v; want 0.3", bound, ok)
	}
	if bound, ok := got.Within(0.99); ok {
		t.Errorf("99 %% are within %v, of which only +Inf is known", bound)
	}
	if bound, ok := got.Since(got).Within(0); ok {
		t.Errorf("nothing is within %v", bound)
	}
	for name, raw := range map[string]string{"other": text, "nothing": text, "wait": "{}", "": ""} {
		if got, err := prom.ParseHistogram([]byte(raw), name); err == nil || got.Count != 0 {
			t.Errorf("%q of %.20q: %+v, %v", name, strings.TrimSpace(raw), got, err)
		}
	}
}
