package report

import (
	"strings"
	"testing"
)

func TestThresholdsThatMakeNoSense(t *testing.T) {
	t.Parallel()
	const good = "flaky: {nights: 10, flips: 2, reason: a}\nstale: {days: 3, reason: b}\n"
	for name, tt := range map[string]struct{ from, to string }{
		"one night":           {"nights: 10", "nights: 1"},
		"no flips":            {"flips: 2", "flips: 0"},
		"more flips than can": {"flips: 2", "flips: 10"},
		"no reason":           {"reason: a", `reason: ""`},
		"no days":             {"days: 3", "days: 0"},
		"no reason to that":   {", reason: b", ""},
		"an unknown key":      {"days: 3", "days: 3, nights: 4"},
	} {
		if got, err := parseThresholds("f", []byte(strings.Replace(good, tt.from, tt.to, 1))); err == nil {
			t.Errorf("%s is taken: %+v", name, got)
		}
	}
	if _, err := parseThresholds("f", []byte(good)); err != nil {
		t.Error(err)
	}
}
