package certificate

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/evidence"
	"github.com/firstlight/firstlight/internal/gate/node"
	"github.com/firstlight/firstlight/internal/plan"
)

// Evidence is a run whose evidence was verified.
type Evidence struct {
	*evidence.Bundle
	// Manifest is the verified digest, SignedBy the verified signer; empty if none was required.
	Manifest, SignedBy string
	// Checks judged the run.
	Checks []check.Check
}

// The errors of Derive.
var (
	// ErrTerms: the terms have a figure that the run does not have, or a waiver of nothing.
	ErrTerms = errors.New("the terms do not fit the run")
	// ErrChanged: the evidence is not that which was verified.
	ErrChanged = errors.New("the evidence changed since it was verified: derive the certificate again")
	// ErrUnfinished: the run has not come to its end.
	ErrUnfinished = errors.New("the run is unfinished: finish it with firstlight accept --resume")
)

// Derive derives the certificate of a run, for a version of firstlight. ErrTerms has all problems of
// the terms.
func Derive(e Evidence, t Terms, tool string, issued time.Time) (Certificate, error) {
	h := e.Header
	if !e.Finished {
		return Certificate{}, fmt.Errorf("run %s: %w", h.Run, ErrUnfinished)
	}
	c := Certificate{
		Format: FormatVersion, Tool: tool, Issued: issued.UTC(), Terms: t, Inventory: []Machine{},
		Run: Run{
			ID: h.Run, Manifest: e.Manifest, SignedBy: e.SignedBy, Verdict: e.Verdict(), Began: h.Created.UTC(), Tool: h.Tool,
			Site: input(h.Site, e.Site), Profile: input(h.Profile, e.Profile), Cluster: h.Cluster, Simulated: h.Simulated,
		},
	}
	results := e.Results()
	for _, s := range e.Plan.Steps {
		i := slices.IndexFunc(results, func(r plan.Result) bool { return r.Step == s.Name })
		if i < 0 {
			c.Deviations = append(c.Deviations, Deviation{Gate: s.Name, Suspect: suspectGate, Text: "no verdict", Final: true})
			c.Gates = append(c.Gates, Gate{Name: s.Name})
			continue
		}
		r := results[i]
		c.Gates = append(c.Gates, Gate{Name: r.Step, Verdict: r.Verdict, Reason: r.Reason, Figures: r.Figures})
		if at := r.At.UTC(); at.After(c.Run.Ended) {
			c.Run.Ended = at
		}
		c.Deviations = append(c.Deviations, ofResult(r)...)
		c.Deviations = append(c.Deviations, unlisted(r, e.Checks)...)
		if r.Step == node.Name {
			if err := c.inventory(e, r); err != nil {
				return Certificate{}, err
			}
		}
	}
	c.Deviations = append(c.Deviations, ofRun(e)...)
	c.Deviations = append(c.Deviations, c.ordered()...)
	problems := c.compare()
	problems = append(problems, c.waive()...)
	if err := errors.Join(problems...); err != nil {
		return Certificate{}, fmt.Errorf("%w:\n%w", ErrTerms, err)
	}
	c.decide()
	return c, e.unchanged()
}

// unchanged verifies the files that were read again: they are those of the verified manifest.
func (e Evidence) unchanged() error {
	m, err := evidence.Stored(e.Dir)
	if err != nil {
		return fmt.Errorf("read the manifest of run %s: %w", e.Header.Run, err)
	}
	problems, err := evidence.Verify(e.Dir)
	if err != nil {
		return fmt.Errorf("verify run %s again: %w", e.Header.Run, err)
	}
	if m.Digest != e.Manifest || len(problems) > 0 {
		return fmt.Errorf("run %s: %w", e.Header.Run, ErrChanged)
	}
	return nil
}

func input(name string, data []byte) Input {
	sum := sha256.Sum256(data)
	return Input{Name: name, SHA256: hex.EncodeToString(sum[:])}
}

// inventory reads the hosts of gate node.
func (c *Certificate) inventory(e Evidence, r plan.Result) error {
	obs, err := e.Observations(r.Observations)
	if err != nil {
		return fmt.Errorf("read the inventory of run %s: %w", e.Header.Run, err)
	}
	leftOut := map[string]bool{}
	for _, other := range e.Results() {
		for _, host := range other.LeftOut {
			leftOut[host] = true
		}
	}
	for _, m := range node.Inventory(obs) {
		c.Inventory = append(c.Inventory, Machine{Machine: m, LeftOut: leftOut[m.Host]})
	}
	return nil
}

// compare fills in the contract's figures. A figure that its gate does not have is a problem of the
// terms where the gate passed; elsewhere it was not measured.
func (c *Certificate) compare() []error {
	var problems []error
	for _, term := range c.Terms.Figures {
		f := Figure{Term: term}
		i := slices.IndexFunc(c.Gates, func(g Gate) bool { return g.Name == term.Gate })
		if i < 0 {
			problems = append(problems, fmt.Errorf("figure %q: the run has no gate %q", term.Figure, term.Gate))
			continue
		}
		var names []string
		for _, have := range c.Gates[i].Figures {
			names = append(names, have.Name)
			if have.Name != term.Figure {
				continue
			}
			if have.Unit != term.Unit {
				problems = append(problems, fmt.Errorf("figure %q of gate %s is in %q, the terms have %q", term.Figure, term.Gate, have.Unit, term.Unit))
			}
			f.Measured = append(f.Measured, have.Value)
		}
		if len(f.Measured) == 0 && c.Gates[i].Verdict.Holds() {
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
	switch {
	case t.AtMost != nil:
		return "at most " + t.exact(*t.AtMost)
	case t.AtLeast != nil:
		return "at least " + t.exact(*t.AtLeast)
	default:
		return "no limit"
	}
}

// exact is a value with all its digits: a rounded one may meet a limit that the value does not.
func (t Term) exact(v float64) string {
	return strconv.FormatFloat(v, 'f', -1, 64) + " " + t.Unit
}

func (f Figure) missed() string {
	if len(f.Measured) == 0 {
		return "not measured; the contract requires " + f.limit()
	}
	return fmt.Sprintf("measured %s; the contract requires %s", f.values(), f.limit())
}

// decide sets the states of the gates and the decision.
func (c *Certificate) decide() {
	for i := range c.Gates {
		g := &c.Gates[i]
		g.State = string(g.Verdict)
		if g.Verdict != check.Failed && g.Verdict != check.Unobserved {
			continue
		}
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
