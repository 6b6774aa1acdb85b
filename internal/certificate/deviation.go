package certificate

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/evidence"
	"github.com/firstlight/firstlight/internal/plan"
	"github.com/firstlight/firstlight/internal/profile"
	"github.com/firstlight/firstlight/internal/site"
)

// The suspects of deviations that are not of a component.
const (
	suspectGate      = "gate"
	suspectRun       = "run"
	suspectHardware  = "hardware"
	suspectInventory = "inventory"
	suspectProfile   = "profile"
)

// ofResult are the deviations of a step: its findings, or its reason where it has none. A step that
// recorded no observation was not tried, and cannot be waived. Nodes that a partial verdict leaves
// out are among the deviations of the run.
func ofResult(r plan.Result) []Deviation {
	untried := len(r.Observations) == 0
	switch r.Verdict {
	case check.Passed, check.Partial, check.NotApplicable:
		return nil
	case check.Failed, check.Unobserved:
		var out []Deviation
		for _, f := range r.Findings {
			d := Deviation{Gate: r.Step, Suspect: f.Suspect, Text: fmt.Sprintf("%s: %s", r.Verdict, f.Message), Final: untried}
			if !slices.Contains(out, d) {
				out = append(out, d)
			}
		}
		if len(out) == 0 {
			out = append(out, Deviation{Gate: r.Step, Suspect: suspectGate, Text: fmt.Sprintf("%s: %s", r.Verdict, r.Reason), Final: untried})
		}
		return out
	default:
		return []Deviation{{Gate: r.Step, Suspect: suspectGate, Text: fmt.Sprintf("%s: %s", r.Verdict, r.Reason), Final: true}}
	}
}

// unlisted are the thresholds that the site lowers for a gate that did not pass: a pass lists its own,
// also one without the nodes that it leaves out.
func unlisted(r plan.Result, checks []check.Check) []Deviation {
	if r.Verdict.Holds() || r.Verdict == check.NotApplicable {
		return nil
	}
	var out []Deviation
	for _, c := range checks {
		if l, ok := c.(plan.Lowers); ok && c.Name() == r.Step {
			for _, limit := range l.Lowered() {
				out = append(out, Deviation{Suspect: suspectRun, Text: fmt.Sprintf("lowered by the site: %s: %s", r.Step, limit)})
			}
		}
	}
	return out
}

// ofRun are the deviations of the whole run: each reason why its verdict is narrowed, its notes, and
// profiles that are not those of firstlight.
func ofRun(e Evidence) []Deviation {
	var out []Deviation
	switch e.Header.Simulated {
	case evidence.HardwareReal:
	case evidence.HardwareSimulated:
		out = append(out, Deviation{Suspect: suspectHardware, Text: "the hardware is simulated", Final: true})
	default:
		out = append(out, Deviation{Suspect: suspectHardware, Text: "whether the hardware is simulated is unknown", Final: true})
	}
	if h := e.Header; len(h.Command) < 2 || h.Command[1] != "accept" || h.Only != "" || h.AddedTo != "" {
		out = append(out, Deviation{Suspect: suspectRun, Text: "not a firstlight accept of the whole playbook", Final: true})
	}
	if soak := e.Header.Soak; soak != "" { // a repetition may pass after others that failed
		out = append(out, Deviation{Suspect: suspectRun, Text: fmt.Sprintf("one repetition of soak %s: the verdict of the soak is not part of this certificate", soak)})
	}
	for _, reason := range slices.Concat(e.NarrowedBy(), e.Notes()) {
		out = append(out, Deviation{Suspect: suspectRun, Text: reason})
	}
	return append(out, ofProfiles(e)...)
}

// ofProfiles are the profiles of the run that this version of firstlight does not have: the figures
// in them are those of the site's owner.
func ofProfiles(e Evidence) []Deviation {
	var out []Deviation
	compare := func(name string, used []byte) {
		if slices.Contains(profile.Names(), name) { // other names are paths
			if own, err := profile.Raw(name); err == nil && bytes.Equal(own, used) {
				return
			}
		}
		out = append(out, Deviation{Suspect: suspectProfile, Text: fmt.Sprintf("profile %s (sha256 %s) is not one of firstlight", name, input(name, used).SHA256)})
	}
	compare(e.Header.Profile, e.Profile)
	s, err := site.Parse("site.yaml", e.Site)
	if err != nil {
		return out // its verification has no site either; the header names the profile
	}
	for _, g := range s.Groups {
		compare(g.Profile, e.Inputs[g.ProfileFile()])
	}
	return out
}

// ordered compares the order with the inventory, without the nodes that are left out.
func (c *Certificate) ordered() []Deviation {
	if len(c.Inventory) == 0 {
		return []Deviation{{Suspect: suspectInventory, Text: "no inventory was observed", Final: true}}
	}
	var out []Deviation
	var others []string
	owner := map[string]string{}
	for _, m := range c.Inventory {
		for _, g := range m.GPUs {
			if other, ok := owner[g.UUID]; ok && g.UUID != "" {
				out = append(out, Deviation{Suspect: suspectInventory, Text: fmt.Sprintf("%s and %s have the same GPU: %s", m.Host, other, g.UUID), Final: true})
			}
			owner[g.UUID] = m.Host
			if !m.LeftOut && g.Product != c.Terms.Inventory.Product && !slices.Contains(others, g.Product) {
				others = append(others, g.Product)
			}
		}
	}
	want := c.Terms.Inventory
	if nodes, gpus := c.Count(); nodes != want.Nodes || gpus != want.GPUs {
		out = append(out, Deviation{Suspect: suspectInventory, Text: fmt.Sprintf("%d nodes with %d GPUs, ordered were %d nodes with %d GPUs", nodes, gpus, want.Nodes, want.GPUs)})
	}
	if len(others) > 0 {
		slices.Sort(others)
		out = append(out, Deviation{Suspect: suspectInventory, Text: fmt.Sprintf("GPUs are %s, ordered were %s", strings.Join(others, ", "), want.Product)})
	}
	return out
}

// waive gives each deviation its waiver. A waiver covers exactly one deviation: one that fits none
// or several is a problem of the terms, as is a second one for the same deviation.
func (c *Certificate) waive() []error {
	var problems []error
	for i := range c.Terms.Waivers {
		w := c.Terms.Waivers[i]
		of := c.fitting(w)
		end, err := w.end()
		switch {
		case err != nil:
			problems = append(problems, fmt.Errorf("%s: %w", w, err))
		case len(of) == 0:
			problems = append(problems, fmt.Errorf("%s fits no deviation: remove it, or correct gate, suspect and says (whole words, with the node that is left out or the measured value)", w))
		case len(of) > 1:
			problems = append(problems, fmt.Errorf("%s fits %d deviations: name one by a longer part of its text", w, len(of)))
		case of[0].Final:
			problems = append(problems, fmt.Errorf("%s: this deviation cannot be waived: %s", w, of[0].Text))
		case of[0].Waiver != nil:
			problems = append(problems, fmt.Errorf("%s is the second for this deviation: %s", w, of[0].Text))
		default:
			of[0].Waiver, of[0].Expired = &w, !c.Issued.Before(end)
		}
	}
	return problems
}

// fitting are the deviations that a waiver fits: the one with exactly its text, or those with its words
// as a part.
func (c *Certificate) fitting(w Waiver) []*Deviation {
	var out []*Deviation
	for i := range c.Deviations {
		d := &c.Deviations[i]
		if d.Gate != w.Gate || d.Suspect != w.Suspect || !c.fits(w.Says, *d) {
			continue
		}
		if d.Text == w.Says {
			return []*Deviation{d}
		}
		out = append(out, d)
	}
	return out
}

func (w Waiver) String() string {
	if w.Gate == "" {
		return fmt.Sprintf("waiver of %s (run): %q", w.Suspect, w.Says)
	}
	return fmt.Sprintf("waiver of %s (gate %s): %q", w.Suspect, w.Gate, w.Says)
}
