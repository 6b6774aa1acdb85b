package prom

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseExposition(t *testing.T) {
	t.Parallel()
	const text = `# HELP DCGM_FI_DEV_POWER_USAGE Power draw (in W).
# TYPE DCGM_FI_DEV_POWER_USAGE gauge
DCGM_FI_DEV_POWER_USAGE{gpu="0",UUID="GPU-1",Hostname="gpu-01",container="main",namespace="team",pod="job-0"} 665.658456
DCGM_FI_DEV_POWER_USAGE{gpu="1",UUID="GPU-2",Hostname="gpu-01"} 67.8
# TYPE DCGM_FI_DEV_PCIE_REPLAY_COUNTER counter
DCGM_FI_DEV_PCIE_REPLAY_COUNTER{gpu="0"} 0
untyped_one 3
`
	got, err := ParseExposition([]byte(text), "DCGM_FI_DEV_POWER_USAGE")
	if err != nil {
		t.Fatal(err)
	}
	want := []Sample{
		{Labels: map[string]string{"gpu": "0", "UUID": "GPU-1", "Hostname": "gpu-01", "container": "main", "namespace": "team", "pod": "job-0"}, Value: 665.658456},
		{Labels: map[string]string{"gpu": "1", "UUID": "GPU-2", "Hostname": "gpu-01"}, Value: 67.8},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if got, err := ParseExposition([]byte(text), "untyped_one"); err != nil || len(got) != 1 || got[0].Value != 3 {
		t.Error(got, err)
	}
	if got, err := ParseExposition([]byte(text), "absent"); err != nil || len(got) != 0 {
		t.Error(got, err)
	}
	for _, name := range []string{"DCGM_FI_DEV_PCIE_REPLAY_COUNTER"} {
		if got, err := ParseExposition([]byte(text), name); err == nil {
			t.Errorf("%s was read as %v", name, got)
		}
	}
	for _, value := range []string{"NaN", "+Inf", "-Inf"} {
		if got, err := ParseExposition([]byte("# TYPE a gauge\na{gpu=\"0\"} "+value+"\n"), "a"); !errors.Is(err, ErrNotFinite) || !strings.Contains(err.Error(), "map[gpu:0]") {
			t.Errorf("%s: %v, %v", value, got, err)
		}
	}
	if got, err := ParseExposition([]byte("<html>"), "a"); err == nil {
		t.Errorf("a page was read as %v", got)
	}
}

// TestAMalformedExpositionIsAnErrorAndNoPanic: some answers make the library
// that reads metrics panic, and exporters are read in goroutines, where a panic
// ends the process.
func TestAMalformedExpositionIsAnErrorAndNoPanic(t *testing.T) {
	t.Parallel()
	for _, raw := range []string{"{}", "# HELP a x\n{e=\"1\"} 1\n", "# TYPE a gauge\n{} 1\n"} {
		if got, err := ParseExposition([]byte(raw), "a"); err == nil {
			t.Errorf("exposition %q: %v", raw, got)
		}
		if got, err := ParseNotifications([]byte(raw)); err == nil {
			t.Errorf("notifications %q: %v", raw, got)
		}
	}
}
