package load

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestServerLateFromMetrics(t *testing.T) {
	t.Parallel()
	const sum, latest = LateSum + " 0.25\n", LateMax + " 0.125\n"
	for name, tt := range map[string]struct {
		raw  string
		want *ServerLate
	}{
		"both":             {sum + latest, &ServerLate{Sum: 250, Max: 125}},
		"no maximum":       {sum, nil},
		"no sum":           {latest, nil},
		"a real server":    {"vllm:num_requests_running 3\n", nil},
		"two of one":       {LateSum + "{a=\"1\"} 1\n" + LateSum + "{a=\"2\"} 1\n" + latest, nil},
		"no metrics":       {"", nil},
		"no valid metrics": {"<html>", nil},
	} {
		if diff := cmp.Diff(tt.want, lateOf([]byte(tt.raw))); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}
