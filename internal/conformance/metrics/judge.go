package metrics

import (
	"fmt"
	"strings"
	"time"

	"github.com/firstlight/firstlight/internal/check"
)

// conclusions gathers what the parts of the judgement say.
type conclusions struct {
	wrong, unseen []check.Finding
	figures       []check.Figure
	note          string
}

func (c *conclusions) fail(o check.Observation, found []defect, under string) {
	for _, d := range found {
		c.wrong = append(c.wrong, finding(o, d.suspect, under+d.message, d.remedy))
	}
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
func (c *Check) Judge(obs []check.Observation) check.Judgement {
	if c.invalid != nil {
		return check.NotObserved(c.invalid.Error())
	}
	if c.Claims() == 0 {
		return check.NotObserved("the site's inventory has no GPUs")
	}
	var out conclusions
	if base, ok := c.judgeComplete(&out, obs); ok {
		c.judgeLoads(&out, obs, base)
	}
	j := check.Judgement{Figures: out.figures, Findings: append(out.wrong, out.unseen...)}
	switch {
	case len(out.wrong) > 0:
		j.Verdict, j.Reason = check.Failed, summary(out.wrong)
	case len(out.unseen) > 0:
		j.Verdict, j.Reason = check.Unobserved, summary(out.unseen)
	default:
		j.Verdict = check.Passed
		j.Reason = fmt.Sprintf("%d GPUs on %d nodes have fresh metrics%s", c.Claims(), len(c.nodes), out.note)
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

// last decodes the last observation of a kind and target ("" for any): the one that
// decides.
func last[T any](c *conclusions, obs []check.Observation, kind, target, what, remedy string) (check.Observation, T, bool) {
	var none T
	var found *check.Observation
	for i := range obs {
		if obs[i].Kind == kind && (target == "" || obs[i].Target == target) {
			found = &obs[i]
		}
	}
	if found == nil {
		c.missing(check.Observation{}, what, what+" was not looked at", "run the check again")
		return check.Observation{}, none, false
	}
	figures, err := check.Decode[T](*found)
	if err != nil {
		c.missing(*found, what, what+" could not be read: "+err.Error(), remedy)
		return *found, none, false
	}
	return *found, figures, true
}

const prometheusRemedy = "make Prometheus reachable as reach.prometheus of the site file says (url with certificates, or service), then run the check again"

// judgeComplete holds the samples without load against the inventory.
func (c *Check) judgeComplete(out *conclusions, obs []check.Observation) (base samples, ok bool) {
	o, base, ok := last[samples](out, obs, kindSamples, before, "Prometheus", prometheusRemedy)
	if !ok {
		return base, false
	}
	var hints *targets
	for _, t := range check.OfKind(obs, kindTargets) {
		if f, err := check.Decode[targets](t); err == nil {
			hints = &f
		}
	}
	found := c.defects(base, hints)
	out.fail(o, found, "")
	out.figures = append(out.figures, c.describe(base)...)
	return base, len(found) == 0
}

// describe are the figures of samples: how many GPUs have which metric, and how old
// the oldest sample is.
func (c *Check) describe(s samples) []check.Figure {
	var out []check.Figure
	oldest := time.Duration(0)
	for _, m := range c.metrics {
		n := 0
		for _, g := range s.GPUs {
			if len(g.Samples[m.Name]) > 0 && c.nodeOf(g) != "" {
				n++
			}
			for _, v := range g.Samples[m.Name] {
				if m.Required {
					oldest = max(oldest, s.Now.Sub(v.At))
				}
			}
		}
		f := check.Figure{Name: "GPUs with " + m.What, Value: float64(n), Unit: "GPUs"}
		if m.Required {
			f.Limit, f.Relation, f.Source = float64(c.Claims()), "==", "inventory x profile node.gpus: "+c.profile.Node.GPUs.Source
		}
		out = append(out, f)
	}
	return append(out, check.Figure{
		Name: "oldest sample", Value: oldest.Seconds(), Unit: "s", Limit: c.maxAge.Seconds(), Relation: "<=",
		Source: "site telemetry.scrapeInterval x profile telemetry.freshness: " + c.profile.Telemetry.Freshness.Source,
	})
}
