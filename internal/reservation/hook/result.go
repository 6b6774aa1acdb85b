package hook

import (
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"unicode"

	"github.com/firstlight/firstlight/internal/reservation/lease"
)

// Verdict of a test.
type Verdict string

// Verdicts. Unobserved is not a pass.
const (
	Passed     Verdict = "passed"
	Failed     Verdict = "failed"
	Unobserved Verdict = "unobserved"
)

// Result of a test of a deployment.
type Result struct {
	Verdict Verdict `json:"verdict"`
	// Checks is the number of checks; a pass has at least one.
	Checks int `json:"checks"`
	// Evidence is the location of the evidence: a path, a URL or a digest. One line of at most
	// MaxEvidence bytes. It is public, so a URL must not contain a password.
	Evidence string `json:"evidence,omitempty"`
	// Reason of a verdict other than passed, at most MaxReason bytes.
	Reason string `json:"reason,omitempty"`
}

// Bounds of the texts of a result, in bytes: they are stored with the results of the night, and a
// Job's response has at most 4096 bytes.
const (
	MaxEvidence = 1024
	MaxReason   = lease.MaxReason
)

var versions = regexp.MustCompile(`^(main|v(0|[1-9][0-9]{0,8})(\.(0|[1-9][0-9]{0,8})){2})$`)

// CheckVersion validates the version of a test.
func CheckVersion(version string) error {
	if !versions.MatchString(version) {
		return fmt.Errorf("invalid version %.40q: must be main or vX.Y.Z", version)
	}
	return nil
}

func (p *problems) result(r Result) {
	switch r.Verdict {
	case Passed:
		p.add(r.Checks < 1, "invalid result: passed with %d checks: a pass has at least one", r.Checks)
		p.add(r.Reason != "", "invalid result: passed with a reason: %.80q", r.Reason)
	case Failed, Unobserved:
		p.add(strings.TrimSpace(r.Reason) == "", "invalid result: %s without a reason", r.Verdict)
	default:
		p.add(true, "invalid result: unknown verdict %.40q: want one of passed, failed, unobserved", string(r.Verdict))
	}
	p.add(r.Checks < 0, "invalid result: %d checks", r.Checks)
	p.add(len(r.Evidence) > MaxEvidence, "invalid result: evidence has %d bytes, at most %d are allowed", len(r.Evidence), MaxEvidence)
	p.add(strings.ContainsFunc(r.Evidence, unicode.IsControl), "invalid result: evidence must be one line without control characters")
	if u, err := url.Parse(r.Evidence); err == nil {
		p.add(u.User != nil, "invalid result: evidence is a URL with a user: it is public")
	}
	p.add(len(r.Reason) > MaxReason, "invalid result: reason has %d bytes, at most %d are allowed", len(r.Reason), MaxReason)
	p.add(strings.ContainsFunc(r.Reason, func(c rune) bool { return unicode.IsControl(c) && c != '\n' && c != '\t' }), "invalid result: reason has control characters")
}
