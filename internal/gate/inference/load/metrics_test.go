package load

import (
	"fmt"
	"strings"
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

// vLLM renamed vllm:time_per_output_token_seconds to vllm:inter_token_latency_seconds in 0.11, which has both ("DEPRECATED:
// Use vllm:inter_token_latency_seconds instead"). The histograms of several engines are added.
func TestGapsByVersionOfVLLM(t *testing.T) {
	t.Parallel()
	const older, newer = "vllm:time_per_output_token_seconds", "vllm:inter_token_latency_seconds"
	of := func(name, engine string, within, all int) string {
		labels := fmt.Sprintf(`engine=%q,model_name="m"`, engine)
		return fmt.Sprintf("# TYPE %[1]s histogram\n%[1]s_bucket{le=\"0.025\",%[2]s} %[3]d\n%[1]s_bucket{le=\"+Inf\",%[2]s} %[4]d\n%[1]s_sum{%[2]s} 1\n%[1]s_count{%[2]s} %[4]d\n", name, labels, within, all)
	}
	both := func(within0, all0, within1, all1 int) string {
		return of(newer, "0", within0, all0) + strings.SplitN(of(newer, "1", within1, all1), "\n", 2)[1]
	}
	ms := 25.
	for name, tt := range map[string]struct {
		before, after string
		want          *float64
	}{
		"0.11 and newer":           {of(newer, "0", 10, 20), of(newer, "0", 110, 120), &ms},
		"until 0.10":               {of(older, "0", 10, 20), of(older, "0", 110, 120), &ms},
		"0.11 with both":           {of(newer, "0", 10, 20) + of(older, "0", 10, 20), of(newer, "0", 10, 120) + of(older, "0", 110, 120), nil},
		"a slow engine":            {both(0, 0, 0, 0), both(100, 100, 0, 2), nil},
		"no slow engine":           {both(0, 0, 0, 0), both(100, 100, 50, 50), &ms},
		"no gap during the load":   {of(newer, "0", 10, 20), of(newer, "0", 10, 20), nil},
		"a server of another kind": {"x 1\n", "x 2\n", nil},
	} {
		var f Figures
		f.addMetrics([]byte(tt.before), []byte(tt.after))
		if diff := cmp.Diff(tt.want, f.ServerITL); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}
