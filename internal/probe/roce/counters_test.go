package roce_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/firstlight/firstlight/internal/probe/roce"
)

// statistics are lines that users of ConnectX adapters quote in public, and one of another kind of
// name that mlx5 has.
const statistics = `=mlx5_0=
NIC statistics:
     rx_packets: 20693166921
     rx_prio3_pause: 41927
     rx_prio3_pause_duration: 8134
     tx_pause_storm_warning_events: 0
     ch0_events: 18446744073709551615
/sys/class/infiniband/mlx5_0/ports/1/hw_counters/np_cnp_sent:12884
=mlx5_1=
NIC statistics:
     rx_packets: 0
`

func TestParseCounters(t *testing.T) {
	t.Parallel()
	got, err := roce.ParseCounters([]byte(statistics))
	want := map[string]map[string]uint64{
		"mlx5_0": {"rx_packets": 20693166921, "rx_prio3_pause": 41927, "rx_prio3_pause_duration": 8134, "tx_pause_storm_warning_events": 0, "ch0_events": 1<<64 - 1, "np_cnp_sent": 12884},
		"mlx5_1": {"rx_packets": 0},
	}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v %s", err, diff)
	}
}

// The names of mlx5's two pause storm counters end in a space (Linux, en_stats.c): they were other names to a limit.
// Broadcom's and Emulex' drivers have names with brackets, colons and spaces (isc-projects/ethq #6,
// strizhechenko/netutils-linux #208).
func TestNamesOfCounters(t *testing.T) {
	t.Parallel()
	got, err := roce.ParseCounters([]byte("=a=\nNIC statistics:\n     tx_pause_storm_warning_events : 3\n     tx_pause_storm_error_events : 1\n     [0]: rx_discards: 2\n     rxq0: rx_bytes: 4\n"))
	want := map[string]map[string]uint64{"a": {"tx_pause_storm_warning_events": 3, "tx_pause_storm_error_events": 1, "[0]: rx_discards": 2, "rxq0: rx_bytes": 4}}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v %s", err, diff)
	}
}

func TestParseCountersRefuses(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ in, says string }{
		"nothing":              {"", "no section"},
		"no heading":           {"NIC statistics:\n     a: 1\n", "expected a heading"},
		"a section twice":      {"=a=\n     x: 1\n=a=\n     x: 1\n", "duplicate section of a"},
		"a counter twice":      {"=a=\n     x: 1\n     x: 2\n", "duplicate counter x"},
		"twice with a space":   {"=a=\n     x : 1\n     x: 2\n", "duplicate counter x"},
		"not a number":         {"=a=\n     x: many\n", "expected \"name: number\""},
		"a negative number":    {"=a=\n     x: -1\n", "expected \"name: number\""},
		"larger than 64 bits":  {"=a=\n     x: 99999999999999999999\n", "counter x"},
		"a file with a reason": {"=a=\n/sys/class/infiniband/a/ports/1/hw_counters/x:N/A\n", "must be a number"},
	} {
		if got, err := roce.ParseCounters([]byte(tt.in)); err == nil || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%s: %+v, %v; want %q", name, got, err, tt.says)
		}
	}
}

func FuzzParseCounters(f *testing.F) {
	f.Add([]byte(statistics))
	f.Fuzz(func(t *testing.T, data []byte) {
		if ports, err := roce.ParseCounters(data); err == nil && len(ports) == 0 {
			t.Error("no port, and no error")
		}
	})
}
