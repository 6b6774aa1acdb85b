package check

import "fmt"

// Verdict is the result of one Check.
type Verdict string

// The verdicts. The zero value is invalid and is never a pass.
const (
	// Passed: the criterion was observed to hold.
	Passed Verdict = "passed"
	// Partial: the criterion was observed to hold on all nodes but those that the plan allows to
	// leave out and on which it was observed not to hold.
	Partial Verdict = "partial"
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
	case Passed, Partial, Failed, Unobserved, Blocked, NotApplicable:
		return v, nil
	default:
		return "", fmt.Errorf("unknown verdict %q", s)
	}
}

// Holds reports whether checks that need this one may run: passed, or partial.
func (v Verdict) Holds() bool { return v == Passed || v == Partial }

// Overall combines the verdicts of a run: passed only if every verdict is passed or not
// applicable and at least one is passed; partial if some of those are partial. Zero verdicts
// are unobserved.
func Overall(verdicts []Verdict) Verdict {
	passed, partial, failed, other := 0, 0, false, false
	for _, v := range verdicts {
		switch v {
		case Passed:
			passed++
		case Partial:
			partial++
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
	case other, passed+partial == 0:
		return Unobserved
	case partial > 0:
		return Partial
	default:
		return Passed
	}
}
