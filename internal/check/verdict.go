package check

import "fmt"

// Verdict is the result of one Check.
type Verdict string

// The verdicts. The zero value is invalid and is never a pass.
const (
	// Passed: the criterion was observed to hold.
	Passed Verdict = "passed"
	// Failed: the criterion was observed not to hold.
	Failed Verdict = "failed"
	// Unobserved: the criterion could not be observed. Never a pass.
	Unobserved Verdict = "unobserved"
	// Blocked: a check that this one needs did not pass.
	Blocked Verdict = "blocked"
	// NotApplicable: the site declares that the check does not apply; the judgement's
	// Reason says why.
	NotApplicable Verdict = "not-applicable"
)

// ParseVerdict parses a verdict; any other word is an error.
func ParseVerdict(s string) (Verdict, error) {
	switch v := Verdict(s); v {
	case Passed, Failed, Unobserved, Blocked, NotApplicable:
		return v, nil
	default:
		return "", fmt.Errorf("unknown verdict %q", s)
	}
}

// Overall combines the verdicts of a run: passed only if every verdict is passed or not
// applicable and at least one is passed. Zero verdicts are unobserved.
func Overall(verdicts []Verdict) Verdict {
	passed, failed, other := 0, false, false
	for _, v := range verdicts {
		switch v {
		case Passed:
			passed++
		case Failed:
			failed = true
		case NotApplicable:
		case Unobserved, Blocked:
			other = true
		default:
			other = true
		}
	}
	switch {
	case failed:
		return Failed
	case other, passed == 0:
		return Unobserved
	default:
		return Passed
	}
}
