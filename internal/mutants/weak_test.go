package mutants

import (
	"math"
	"testing"
)

func TestAWeakPackageDoesNotHideInTheSum(t *testing.T) {
	t.Parallel()
	results := func(killed, survived int) []Result {
		out := make([]Result, 0, killed+survived)
		for range killed {
			out = append(out, Result{Outcome: Killed})
		}
		for range survived {
			out = append(out, Result{Outcome: Survived})
		}
		return out
	}
	for name, tt := range map[string]struct {
		all, killed, survived int
		weak                  bool
	}{
		"all killed":                    {100, 100, 0, false},
		"whole, at the threshold":       {100, 95, 5, false},
		"whole, below it":               {100, 94, 6, true},
		"a small one, below it":         {10, 9, 1, true},
		"sample, one of six survived":   {100, 5, 1, false},
		"sample, three of six survived": {100, 3, 3, true},
		"sample, 92 % of hundred":       {1000, 92, 8, false},
		"sample, 83 % of hundred":       {1000, 83, 17, true},
		"nothing ran":                   {100, 0, 0, false},
	} {
		r := Report{Threshold: 0.95, Packages: []Package{{Mutants: tt.all, Results: results(tt.killed, tt.survived)}}}
		if got := len(r.Weak()) == 1; got != tt.weak {
			t.Errorf("%s: weak is %t", name, got)
		}
	}
	if got := atLeast(2, 3, 0.5); math.Abs(got-0.5) > 1e-9 {
		t.Errorf("two or three heads of three: %v", got)
	}
}
