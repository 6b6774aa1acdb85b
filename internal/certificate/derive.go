package certificate

import (
	"errors"
	"fmt"
	"time"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/evidence"
	"github.com/firstlight/firstlight/internal/gate/node"
)

// ErrTerms is returned for terms that do not fit the run: a figure that it does not have, a waiver
// of nothing.
var ErrTerms = errors.New("the terms do not fit the run")

// Of derives the certificate of a run. The caller has verified its evidence; signedBy is the
// verified signer. ErrTerms: all problems of the terms.
func Of(b *evidence.Bundle, signedBy string, t Terms, issued time.Time) (Certificate, error) {
	m, err := evidence.Stored(b.Dir)
	if err != nil {
		return Certificate{}, fmt.Errorf("read the manifest of run %s: %w", b.Header.Run, err)
	}
	h := b.Header
	c := Certificate{
		Format: FormatVersion, Issued: issued.UTC(), Terms: t, Inventory: []node.Machine{},
		Run: Run{
			ID: h.Run, Manifest: m.Digest, SignedBy: signedBy, Verdict: b.Verdict(), Began: h.Created.UTC(), Tool: h.Tool,
			Site: h.Site, Profile: h.Profile, Cluster: h.Cluster, Simulated: h.Simulated,
		},
	}
	leftOut := map[string]bool{}
	for _, s := range b.Plan.Steps {
		g := Gate{Name: s.Name, Recommended: s.Recommended}
		for _, r := range b.Results() {
			if r.Step != s.Name {
				continue
			}
			g.Verdict, g.Reason, g.Figures = r.Verdict, r.Reason, r.Figures
			if r.At.After(c.Run.Ended) {
				c.Run.Ended = r.At.UTC()
			}
			for _, host := range r.LeftOut {
				leftOut[host] = true
			}
			c.Deviations = append(c.Deviations, ofResult(r, s.Recommended)...)
			if r.Step == node.Name {
				obs, err := b.Observations(r.Observations)
				if err != nil {
					return Certificate{}, fmt.Errorf("read the inventory of run %s: %w", h.Run, err)
				}
				c.Inventory = node.Inventory(obs)
			}
		}
		if g.Verdict == "" {
			c.Deviations = append(c.Deviations, Deviation{Gate: s.Name, Suspect: "gate", Text: "no verdict", Final: true})
		}
		c.Gates = append(c.Gates, g)
	}
	c.Deviations = append(c.Deviations, ofRun(b)...)
	c.Deviations = append(c.Deviations, ordered(t.Inventory, c.Inventory, leftOut)...)
	problems := c.compare()
	problems = append(problems, c.waive()...)
	if err := errors.Join(problems...); err != nil {
		return Certificate{}, fmt.Errorf("%w:\n%w", ErrTerms, err)
	}
	c.decide()
	return c, nil
}

// compare fills in the contract's figures. A figure that its gate does not have is a problem of the
// terms, unless the gate has none.
func (c *Certificate) compare() []error {
	var problems []error
	for _, term := range c.Terms.Figures {
		f := Figure{Term: term}
		var names []string
		found := false
		for _, g := range c.Gates {
			if g.Name != term.Gate {
				continue
			}
			found = true
			for _, have := range g.Figures {
				names = append(names, have.Name)
				if have.Name != term.Figure {
					continue
				}
				if have.Unit != term.Unit {
					problems = append(problems, fmt.Errorf("figure %q of gate %s is in %q, the terms have %q", term.Figure, term.Gate, have.Unit, term.Unit))
				}
				f.Measured = append(f.Measured, have.Value)
			}
		}
		switch {
		case !found:
			problems = append(problems, fmt.Errorf("figure %q: the run has no gate %q", term.Figure, term.Gate))
		case len(f.Measured) == 0 && len(names) > 0:
			problems = append(problems, fmt.Errorf("gate %s has no figure %q; it has %q", term.Gate, term.Figure, names))
		}
		f.Met = term.met(f.Measured)
		if !f.Met {
			c.Deviations = append(c.Deviations, Deviation{Gate: term.Gate, Suspect: term.Figure, Text: f.missed()})
		}
		c.Figures = append(c.Figures, f)
	}
	return problems
}

// met requires at least one value, and every value within the limit; NaN is not.
func (t Term) met(values []float64) bool {
	for _, v := range values {
		if t.AtLeast != nil && !(v >= *t.AtLeast) || t.AtMost != nil && !(v <= *t.AtMost) {
			return false
		}
	}
	return len(values) > 0 && (t.AtLeast != nil || t.AtMost != nil)
}

// limit is the limit as text: "at least 350 GB/s".
func (t Term) limit() string {
	if t.AtMost != nil {
		return fmt.Sprintf("at most %v %s", *t.AtMost, t.Unit)
	}
	if t.AtLeast != nil {
		return fmt.Sprintf("at least %v %s", *t.AtLeast, t.Unit)
	}
	return "no limit"
}

func (f Figure) missed() string {
	if len(f.Measured) == 0 {
		return "not measured; the contract requires " + f.limit()
	}
	return fmt.Sprintf("measured %v %s; the contract requires %s", f.Measured, f.Unit, f.limit())
}

// decide sets the states of the gates and the decision.
func (c *Certificate) decide() {
	for i := range c.Gates {
		g := &c.Gates[i]
		g.State = string(g.Verdict)
		deviates, open := false, false
		for _, d := range c.Deviations {
			if d.Gate == g.Name {
				deviates, open = true, open || d.Open()
			}
		}
		if deviates && !open {
			g.State = Waived
		}
	}
	switch {
	case len(c.Open()) > 0:
		c.Decision = NotAccepted
	case len(c.Deviations) > 0:
		c.Decision = WithWaivers
	case c.Run.Verdict == check.Passed:
		c.Decision = Accepted
	default:
		c.Decision = NotAccepted
	}
}
