package certificate

import (
	"fmt"
	"slices"
	"strings"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/evidence"
	"github.com/firstlight/firstlight/internal/gate/node"
	"github.com/firstlight/firstlight/internal/plan"
)

// The suspects of deviations that are not of a component.
const (
	suspectGate      = "gate"
	suspectRun       = "run"
	suspectHardware  = "hardware"
	suspectInventory = "inventory"
)

// ofResult are the deviations of a step: its findings, or its reason where it has none. A step that
// was not tried cannot be waived. Nodes that a partial verdict leaves out are among those of the run.
func ofResult(r plan.Result, recommended bool) []Deviation {
	if recommended { // one that did not pass is among those of the run
		return nil
	}
	switch r.Verdict {
	case check.Passed, check.Partial, check.NotApplicable:
		return nil
	case check.Failed, check.Unobserved:
		var out []Deviation
		for _, f := range r.Findings {
			out = append(out, Deviation{Gate: r.Step, Suspect: f.Suspect, Text: fmt.Sprintf("%s: %s", r.Verdict, f.Message)})
		}
		if len(out) == 0 {
			out = append(out, Deviation{Gate: r.Step, Suspect: suspectGate, Text: fmt.Sprintf("%s: %s", r.Verdict, r.Reason)})
		}
		return out
	default:
		return []Deviation{{Gate: r.Step, Suspect: suspectGate, Text: fmt.Sprintf("%s: %s", r.Verdict, r.Reason), Final: true}}
	}
}

// ofRun are the deviations of the whole run: each reason why its verdict is narrowed.
func ofRun(b *evidence.Bundle) []Deviation {
	var out []Deviation
	switch b.Header.Simulated {
	case evidence.HardwareReal:
	case evidence.HardwareSimulated:
		out = append(out, Deviation{Suspect: suspectHardware, Text: "the hardware is simulated", Final: true})
	default:
		out = append(out, Deviation{Suspect: suspectHardware, Text: "whether the hardware is simulated is unknown", Final: true})
	}
	if h := b.Header; len(h.Command) < 2 || h.Command[1] != "accept" || h.Only != "" || !b.Finished {
		out = append(out, Deviation{Suspect: suspectRun, Text: "not a finished firstlight accept of the whole playbook", Final: true})
	}
	for _, reason := range b.NarrowedBy() {
		out = append(out, Deviation{Suspect: suspectRun, Text: reason})
	}
	return out
}

// ordered compares the order with the inventory, without the nodes that are left out.
func ordered(want Ordered, seen []node.Machine, leftOut map[string]bool) []Deviation {
	if len(seen) == 0 {
		return []Deviation{{Suspect: suspectInventory, Text: "no inventory was observed", Final: true}}
	}
	nodes, gpus := 0, 0
	var others []string
	for _, m := range seen {
		if leftOut[m.Host] {
			continue
		}
		nodes++
		gpus += len(m.GPUs)
		for _, g := range m.GPUs {
			if g.Product != want.Product && !slices.Contains(others, g.Product) {
				others = append(others, g.Product)
			}
		}
	}
	var out []Deviation
	if nodes != want.Nodes || gpus != want.GPUs {
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
		w := &c.Terms.Waivers[i]
		var of []*Deviation
		for j := range c.Deviations {
			if d := &c.Deviations[j]; d.Gate == w.Gate && d.Suspect == w.Suspect && strings.Contains(d.Text, w.Says) {
				of = append(of, d)
			}
		}
		end, err := w.end()
		switch {
		case err != nil:
			problems = append(problems, fmt.Errorf("%s: %w", w, err))
		case len(of) == 0:
			problems = append(problems, fmt.Errorf("%s fits no deviation: remove it, or correct gate, suspect and says", w))
		case len(of) > 1:
			problems = append(problems, fmt.Errorf("%s fits %d deviations: name one with says, a part of its text", w, len(of)))
		case of[0].Final:
			problems = append(problems, fmt.Errorf("%s: this deviation cannot be waived: %s", w, of[0].Text))
		case of[0].Waiver != nil:
			problems = append(problems, fmt.Errorf("%s is the second for this deviation: %s", w, of[0].Text))
		default:
			copied := *w
			of[0].Waiver, of[0].Expired = &copied, !c.Issued.Before(end)
		}
	}
	return problems
}

func (w *Waiver) String() string {
	if w.Gate == "" {
		return fmt.Sprintf("waiver of %s (run)", w.Suspect)
	}
	return fmt.Sprintf("waiver of %s (gate %s)", w.Suspect, w.Gate)
}
