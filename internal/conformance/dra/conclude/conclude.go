// Package conclude gathers what the parts of a conformance check's judgement say
// into one: what is wrong fails it, and what could not be seen keeps it from passing.
package conclude

import (
	"fmt"
	"strings"

	"github.com/firstlight/firstlight/internal/check"
)

// Conclusions are a judgement's parts. The zero value says nothing yet.
type Conclusions struct {
	wrong   []check.Finding
	unseen  []check.Finding
	figures []check.Figure
	shown   int
}

// Fail says that something is wrong.
func (c *Conclusions) Fail(o check.Observation, suspect, message, remedy string) {
	c.wrong = append(c.wrong, finding(o, suspect, message, remedy))
}

// Missing says that something could not be seen.
func (c *Conclusions) Missing(o check.Observation, suspect, message, remedy string) {
	c.unseen = append(c.unseen, finding(o, suspect, message, remedy))
}

// Shown says that one part of what was to be shown was.
func (c *Conclusions) Shown(figures ...check.Figure) {
	c.shown++
	c.figures = append(c.figures, figures...)
}

// Figure adds headline numbers.
func (c *Conclusions) Figure(figures ...check.Figure) { c.figures = append(c.figures, figures...) }

// Wrong says that something was found wrong.
func (c *Conclusions) Wrong() bool { return len(c.wrong) > 0 }

// Judgement passes, for the reason that is given, only when exactly parts parts
// were shown and nothing is wrong or unseen.
func (c *Conclusions) Judgement(parts int, reason string) check.Judgement {
	j := check.Judgement{Figures: c.figures, Findings: append(c.wrong, c.unseen...)}
	switch {
	case len(c.wrong) > 0:
		j.Verdict, j.Reason = check.Failed, summary(c.wrong)
	case len(c.unseen) > 0:
		j.Verdict, j.Reason = check.Unobserved, summary(c.unseen)
	case parts < 1 || c.shown != parts:
		j.Verdict, j.Reason = check.Unobserved, fmt.Sprintf("%d of %d parts were shown", c.shown, parts)
	default:
		j.Verdict, j.Reason = check.Passed, reason
	}
	return j
}

// Only decodes the only observation of a kind and target (any target when it is
// empty). Any other number of them is no observation at all.
func Only[T any](c *Conclusions, obs []check.Observation, kind, target string) (check.Observation, T, bool) {
	var figures T
	var found []check.Observation
	for _, o := range check.OfKind(obs, kind) {
		if target == "" || o.Target == target {
			found = append(found, o)
		}
	}
	what := strings.TrimSpace(strings.ReplaceAll(kind, "-", " ") + " " + target)
	if len(found) != 1 {
		c.Missing(check.Observation{}, what, fmt.Sprintf("%d observations instead of one", len(found)), "run the check again")
		return check.Observation{}, figures, false
	}
	figures, err := check.Decode[T](found[0])
	if err != nil {
		c.Missing(found[0], what, "could not be seen: "+err.Error(), remedyFor(found[0].Err))
		return found[0], figures, false
	}
	return found[0], figures, true
}

func remedyFor(err string) string {
	if strings.Contains(err, "forbidden") {
		return "give the user of this kubeconfig the permissions that firstlight's RBAC lists"
	}
	return "make the API server reachable with this kubeconfig, then run the check again"
}

func finding(o check.Observation, suspect, message, remedy string) check.Finding {
	f := check.Finding{Suspect: suspect, Message: message, Remedy: remedy}
	if o.ID != "" {
		f.Observations = []string{o.ID}
	}
	return f
}

// summary names the first finding and counts the rest.
func summary(findings []check.Finding) string {
	text := findings[0].Suspect + ": " + findings[0].Message
	if more := len(findings) - 1; more > 0 {
		text += fmt.Sprintf(" (and %d more)", more)
	}
	return text
}
