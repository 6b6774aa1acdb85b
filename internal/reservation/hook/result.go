package hook

import (
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"unicode"
)

// Verdict of a test.
type Verdict string

// The verdicts. What could not be seen is not a pass.
const (
	Passed     Verdict = "passed"
	Failed     Verdict = "failed"
	Unobserved Verdict = "unobserved"
)

// Result is what a test of a deployment came to.
type Result struct {
	Verdict Verdict `json:"verdict"`
	// Checks is how many there were; a pass has at least one.
	Checks int `json:"checks"`
	// Evidence says where it is kept: a path, a URL, a digest. One line of at most
	// MaxEvidence bytes; it is shown to everybody, so a URL has no password in it.
	Evidence string `json:"evidence,omitempty"`
	// Why says what failed, or could not be seen: at most MaxWhy bytes. A pass has none.
	Reason string `json:"reason,omitempty"`
}

// Bounds of a result's texts, in bytes: they are kept with the night's results, and the
// whole response of a Job has at most 4096.
const (
	MaxEvidence = 1024
	MaxReason      = 2048
)

// versions that a test is of.
var versions = regexp.MustCompile(`^(main|v(0|[1-9][0-9]{0,8})(\.(0|[1-9][0-9]{0,8})){2})$`)

// CheckVersion says whether a test may be of that.
func CheckVersion(version string) error {
	if !versions.MatchString(version) {
		return fmt.Errorf("%.40q is neither main nor vX.Y.Z", version)
	}
	return nil
}

func (p *problems) result(r Result) {
	switch r.Verdict {
	case Passed:
		p.add(r.Checks < 1, "result: it passed, and %d checks say so: a pass has at least one", r.Checks)
		p.add(r.Reason != "", "result: it passed, and why says what did not: %.80q", r.Reason)
	case Failed, Unobserved:
		p.add(strings.TrimSpace(r.Reason) == "", "result: it is %s: why is missing", r.Verdict)
	default:
		p.add(true, "result: the verdict %.40q is unknown: want passed, failed or unobserved", string(r.Verdict))
	}
	p.add(r.Checks < 0, "result: %d checks", r.Checks)
	p.add(len(r.Evidence) > MaxEvidence, "result: evidence has %d bytes, it may have %d", len(r.Evidence), MaxEvidence)
	p.add(strings.ContainsFunc(r.Evidence, unicode.IsControl), "result: evidence is more than one line, or has control characters")
	if u, err := url.Parse(r.Evidence); err == nil {
		p.add(u.User != nil, "result: evidence is a URL with a user in it: it is shown to everybody")
	}
	p.add(len(r.Reason) > MaxReason, "result: why has %d bytes, it may have %d", len(r.Reason), MaxReason)
	p.add(strings.ContainsFunc(r.Reason, func(c rune) bool { return unicode.IsControl(c) && c != '\n' && c != '\t' }), "result: why has control characters")
}

// Brief makes a why of a text: without control characters, cut at MaxWhy.
func TrimReason(text string) string {
	const cut = " (cut)"
	text = strings.TrimSpace(strings.Map(func(c rune) rune {
		if unicode.IsControl(c) && c != '\n' && c != '\t' {
			return ' '
		}
		return c
	}, strings.ToValidUTF8(text, "?")))
	if len(text) <= MaxReason {
		return text
	}
	return strings.ToValidUTF8(text[:MaxReason-len(cut)], "") + cut
}
