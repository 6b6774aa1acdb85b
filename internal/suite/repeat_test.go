package suite_test

import (
	"testing"

	"github.com/firstlight/firstlight/internal/suite"
)

// Only what measured a stall is repeated, and at most twice.
func TestRepeat(t *testing.T) {
	t.Parallel()
	const stall = "TTFT p99 is 900 ms, but firstlight was not scheduled for 400 ms"
	for name, c := range map[string]struct {
		reasons []string
		want    int
	}{
		"passed":                {[]string{""}, 1},
		"unobserved, no stall":  {[]string{"no series of gpu-02"}, 1},
		"a stall":               {[]string{stall, ""}, 2},
		"a stall, then another": {[]string{stall, "no series of gpu-02"}, 2},
		"nothing but stalls":    {[]string{stall, stall, stall, stall}, 3},
	} {
		n := 0
		suite.Repeat(t, func() string {
			n++
			return c.reasons[n-1]
		})
		if n != c.want {
			t.Errorf("%s: observed %d times, want %d", name, n, c.want)
		}
	}
}
