package telemetry

import (
	"fmt"
	"strings"

	"github.com/firstlight/firstlight/internal/check"
)

// conclusions gathers what the parts of the judgement say.
type conclusions struct {
	wrong   []check.Finding
	unseen  []check.Finding
	figures []check.Figure
}

func (c *conclusions) fail(o check.Observation, suspect, message, remedy string) {
	c.wrong = append(c.wrong, finding(o, suspect, message, remedy))
}

func (c *conclusions) missing(o check.Observation, suspect, message, remedy string) {
	c.unseen = append(c.unseen, finding(o, suspect, message, remedy))
}

func finding(o check.Observation, suspect, message, remedy string) check.Finding {
	f := check.Finding{Suspect: suspect, Message: message, Remedy: remedy}
	if o.ID != "" {
		f.Observations = []string{o.ID}
	}
	return f
}

// Judge implements check.Check.
func (g *Gate) Judge(obs []check.Observation) check.Judgement {
	if len(g.nodes) == 0 || g.gpus == 0 {
		return check.CouldNotObserve("the site's inventory has no GPUs")
	}
	var c conclusions
	if g.judgeIdle(&c, obs) {
		g.judgeAnswers(&c, obs)
		g.judgeLoaded(&c, obs)
	}
	g.judgeAlert(&c, obs)
	j := check.Judgement{Figures: c.figures, Findings: append(c.wrong, c.unseen...)}
	switch {
	case len(c.wrong) > 0:
		j.Verdict, j.Reason = check.Failed, summary(c.wrong)
	case len(c.unseen) > 0:
		j.Verdict, j.Reason = check.Unobserved, summary(c.unseen)
	default:
		j.Verdict = check.Passed
		j.Reason = fmt.Sprintf("%d GPU series, fresh and following the load; an alert reached %s", g.Claims(), g.telemetry.Receiver)
	}
	return j
}

// summary names the first finding and counts the rest.
func summary(findings []check.Finding) string {
	text := findings[0].Message
	if !strings.Contains(text, findings[0].Suspect) {
		text = findings[0].Suspect + ": " + text
	}
	if more := len(findings) - 1; more > 0 {
		text += fmt.Sprintf(" (and %d more)", more)
	}
	return text
}

// last decodes the last observation of a kind and target ("" for any): the one
// that decided.
func last[T any](c *conclusions, obs []check.Observation, kind, target, what, remedy string) (check.Observation, T, bool) {
	var figures T
	var found *check.Observation
	for i := range obs {
		if obs[i].Kind == kind && (target == "" || obs[i].Target == target) {
			found = &obs[i]
		}
	}
	if found == nil {
		c.missing(check.Observation{}, what, "was not looked at", "run the gate again")
		return check.Observation{}, figures, false
	}
	figures, err := check.Decode[T](*found)
	if err != nil {
		c.missing(*found, what, "could not be read: "+err.Error(), remedy)
		return *found, figures, false
	}
	return *found, figures, true
}
