package evidence

import (
	"fmt"
	"slices"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/evidence/redact"
	"github.com/firstlight/firstlight/internal/pregate/playbook"
)

// Derived is derived from the inputs of a run (site, profile, other inputs, command) without
// its plan.json.
type Derived struct {
	Checks []check.Check
	// Playbooks is what the plan requires of the playbooks of each step.
	Playbooks map[string]playbook.Expected
	// Plan is the plan that the inputs require; it has no steps if no input determines a plan.
	Plan PlanFile
	// Problems are contradictions between the inputs.
	Problems []PlanProblem
	// Unchecked is why a part of the inputs was not compared; empty: all was.
	Unchecked string
	// Claims are the statements of run.json, Contradictions those that observations contradict.
	Claims         []Claim
	Contradictions []Contradiction
}

// PlanProblem is one difference between a plan and the plan that the inputs of its run require.
type PlanProblem struct {
	// Step is empty for a problem of the whole plan.
	Step    string `json:"step,omitempty"`
	Message string `json:"message"`
}

func (p PlanProblem) String() string {
	if p.Step == "" {
		return p.Message
	}
	return p.Step + ": " + p.Message
}

// ComparePlan lists the differences between the plan of the run and the plan that its inputs
// require. It does not compare descriptions.
func (b *Bundle) ComparePlan(want Derived) []PlanProblem {
	out := slices.Clone(want.Problems)
	if len(want.Plan.Steps) == 0 {
		return out
	}
	planned, required := stepNames(b.Plan), stepNames(want.Plan)
	if b.Plan.Name != want.Plan.Name {
		out = append(out, PlanProblem{Message: fmt.Sprintf("the plan is %q, the inputs require %q", b.Plan.Name, want.Plan.Name)})
	}
	if b.Plan.AllowFailed != want.Plan.AllowFailed {
		out = append(out, PlanProblem{Message: fmt.Sprintf("allowFailed is %d in the plan, the inputs require %d", b.Plan.AllowFailed, want.Plan.AllowFailed)})
	}
	for _, s := range want.Plan.Steps {
		i := slices.Index(planned, s.Name)
		if i < 0 {
			out = append(out, PlanProblem{s.Name, "the inputs require this step, the plan does not have it"})
			continue
		}
		out = append(out, compareStep(b.Plan.Steps[i], s)...)
	}
	for i, name := range planned {
		switch {
		case !slices.Contains(required, name):
			out = append(out, PlanProblem{name, "the plan has this step, the inputs do not require it"})
		case slices.Contains(planned[:i], name):
			out = append(out, PlanProblem{name, "the plan has this step twice"})
		}
	}
	if len(out) == 0 && !slices.Equal(planned, required) {
		out = append(out, PlanProblem{Message: fmt.Sprintf("the order of the plan is %v, the inputs require %v", planned, required)})
	}
	return out
}

func stepNames(p PlanFile) []string {
	names := make([]string, len(p.Steps))
	for i, s := range p.Steps {
		names[i] = s.Name
	}
	return names
}

// compareStep compares the fields that a verdict depends on, as quoted text: names with spaces
// differ from lists of names.
func compareStep(have, want PlanStep) []PlanProblem {
	var out []PlanProblem
	for _, field := range []struct {
		name       string
		have, want string
	}{
		{"needs", fmt.Sprintf("%q", have.Needs), fmt.Sprintf("%q", want.Needs)},
		{"after", fmt.Sprintf("%q", have.After), fmt.Sprintf("%q", want.After)},
		{"recommended", fmt.Sprint(have.Recommended), fmt.Sprint(want.Recommended)},
		{"notApplicable", fmt.Sprintf("%q", redact.String(have.NotApplicable)), fmt.Sprintf("%q", redact.String(want.NotApplicable))},
	} {
		if field.have != field.want {
			out = append(out, PlanProblem{want.Name, fmt.Sprintf("%s is %s in the plan, the inputs require %s", field.name, field.have, field.want)})
		}
	}
	return out
}
