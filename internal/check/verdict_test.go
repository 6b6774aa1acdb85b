package check_test

import (
	"testing"

	"github.com/firstlight/firstlight/internal/check"
)

func TestOverall(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		in   []check.Verdict
		want check.Verdict
	}{
		"nothing is unobserved":          {nil, check.Unobserved},
		"all passed":                     {[]check.Verdict{check.Passed, check.Passed}, check.Passed},
		"not applicable does not count":  {[]check.Verdict{check.Passed, check.NotApplicable}, check.Passed},
		"only not applicable":            {[]check.Verdict{check.NotApplicable}, check.Unobserved},
		"one failed":                     {[]check.Verdict{check.Passed, check.Failed, check.Blocked}, check.Failed},
		"unobserved is not a pass":       {[]check.Verdict{check.Passed, check.Unobserved}, check.Unobserved},
		"blocked is not a pass":          {[]check.Verdict{check.Passed, check.Blocked}, check.Unobserved},
		"the zero verdict is not a pass": {[]check.Verdict{check.Passed, ""}, check.Unobserved},
		"an unknown word is not a pass":  {[]check.Verdict{check.Passed, "ok"}, check.Unobserved},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := check.Overall(tt.in); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}
