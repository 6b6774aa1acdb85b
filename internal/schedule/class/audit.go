package class

import (
	"fmt"
	"slices"
	"strings"

	"github.com/firstlight/firstlight/internal/check"
)

// Disagreement is a class whose members did not come to one verdict: then the
// scheduler sees something that the fingerprint does not have, or the test is not
// the same each time.
type Disagreement struct {
	Class
	// Verdicts are the members by verdict.
	Verdicts map[check.Verdict][]string `json:"verdicts"`
	// Missing are members without a verdict.
	Missing []string `json:"missing,omitempty"`
}

// String says who came to what.
func (d Disagreement) String() string {
	var parts []string
	for _, v := range []check.Verdict{check.Passed, check.Failed, check.Unobserved, check.Blocked, check.NotApplicable} {
		if names := d.Verdicts[v]; len(names) > 0 {
			parts = append(parts, fmt.Sprintf("%s %s", strings.Join(names, ", "), v))
		}
	}
	if len(d.Missing) > 0 {
		parts = append(parts, strings.Join(d.Missing, ", ")+" without a verdict")
	}
	return fmt.Sprintf("class of %s (%.12s): %s", d.Representative, d.Fingerprint, strings.Join(parts, "; "))
}

// Audit lists the classes whose members disagree, or are not all there.
func Audit(classes []Class, verdicts map[string]check.Verdict) []Disagreement {
	var out []Disagreement
	for _, c := range classes {
		d := Disagreement{Class: c, Verdicts: map[check.Verdict][]string{}}
		for _, name := range c.Members {
			if v, ok := verdicts[name]; ok {
				d.Verdicts[v] = append(d.Verdicts[v], name)
			} else {
				d.Missing = append(d.Missing, name)
			}
		}
		if len(d.Verdicts) > 1 || len(d.Missing) > 0 {
			for _, names := range d.Verdicts {
				slices.Sort(names)
			}
			out = append(out, d)
		}
	}
	return out
}
