package prom_test

import (
	"strings"
	"testing"

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
	if got, err := prom.ParseHistogram([]byte(text), "wait"); err != nil || got != (prom.Histogram{Count: 4, Sum: 5}) {
		t.Errorf("%+v, %v", got, err)
	}
	for name, raw := range map[string]string{"other": text, "nothing": text, "wait": "{}", "": ""} {
		if got, err := prom.ParseHistogram([]byte(raw), name); err == nil || got != (prom.Histogram{}) {
			t.Errorf("%q of %.20q: %+v, %v", name, strings.TrimSpace(raw), got, err)
		}
	}
}
