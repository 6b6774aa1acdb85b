package check

import "fmt"

// Verdict is the outcome of one Check.
type Verdict string

// The verdicts. The zero value is none of them and is never a pass.
const (
	// Passed: the criterion was observed.
	Passed Verdict = "passed"
	// Failed: the criterion was observed not to hold.
	Failed Verdict = "failed"
	// Unobserved: the criterion could not be seen. Never a pass.
	Unobserved Verdict = "unobserved"
	// Blocked: a check that this one needs is not passed.
	Blocked Verdict = "blocked"
	// NotApplicable: the site declares that this check does not concern it; the
	// judgement's Reason says why.
	NotApplicable Verdict = "not-applicable"
)

// ParseVerdict refuses words that are no verdict.
func ParseVerdict(s string) (Verdict, error) {
	switch v := Verdict(s); v {
	case Passed, Failed, Unobserved, Blocked, NotApplicable:
		return v, nil
	default:
		return "", fmt.Errorf("unknown verdict %q", s)
	}
}

// Overall is the verdict of a walk: passed only when every verdict is passed or
// not applicable and at least one is passed. Zero verdicts are unobserved.
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
