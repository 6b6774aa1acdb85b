package evidence

import (
	"fmt"
	"slices"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/evidence/redact"
)

// Derived is what the inputs of a run make, without anything of its plan.json: site,
// profile, other inputs and command.
type Derived struct {
	Checks []check.Check
	// Plan is what they demand; it has no steps where the run has no input that says.
	Plan PlanFile
	// Problems are places in which the inputs contradict each other.
	Problems []PlanProblem
	// Claims are what run.json says, Contradictions where that is not what was observed.
	Claims         []Claim
	Contradictions []Contradiction
}

// PlanProblem is one place in which a plan is not the one that the inputs of its run make.
type PlanProblem struct {
	// Step is empty where it is about the whole plan.
	Step    string `json:"step,omitempty"`
	Message string `json:"message"`
}

// String is the problem as a line.
func (p PlanProblem) String() string {
	if p.Step == "" {
		return p.Message
	}
	return p.Step + ": " + p.Message
}

// ComparePlan lists the places in which the run's plan differs from what its inputs
// demand. What only describes a step to people is not compared.
func (b *Bundle) ComparePlan(want Derived) []PlanProblem {
	out := slices.Clone(want.Problems)
	if len(want.Plan.Steps) == 0 {
		return out
	}
	planned, demanded := stepNames(b.Plan), stepNames(want.Plan)
	if b.Plan.Name != want.Plan.Name {
		out = append(out, PlanProblem{Message: fmt.Sprintf("the plan is %q, the inputs make %q", b.Plan.Name, want.Plan.Name)})
	}
	for _, s := range want.Plan.Steps {
		i := slices.Index(planned, s.Name)
		if i < 0 {
			out = append(out, PlanProblem{s.Name, "the inputs demand this step, the plan leaves it out"})
			continue
		}
		out = append(out, compareStep(b.Plan.Steps[i], s)...)
	}
	for i, name := range planned {
		switch {
		case !slices.Contains(demanded, name):
			out = append(out, PlanProblem{name, "the plan has this step, the inputs do not demand it"})
		case slices.Contains(planned[:i], name):
			out = append(out, PlanProblem{name, "the plan has this step twice"})
		}
	}
	if len(out) == 0 && !slices.Equal(planned, demanded) {
		out = append(out, PlanProblem{Message: fmt.Sprintf("the plan's order is %v, the inputs make %v", planned, demanded)})
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

// compareStep compares what a verdict depends on.
func compareStep(have, want PlanStep) []PlanProblem {
	var out []PlanProblem
	for _, field := range []struct {
		name       string
		have, want string
	}{
		{"needs", fmt.Sprint(have.Needs), fmt.Sprint(want.Needs)},
		{"after", fmt.Sprint(have.After), fmt.Sprint(want.After)},
		{"recommended", fmt.Sprint(have.Recommended), fmt.Sprint(want.Recommended)},
		{"notApplicable", redact.String(have.NotApplicable), redact.String(want.NotApplicable)},
	} {
		if field.have != field.want {
			out = append(out, PlanProblem{want.Name, fmt.Sprintf("%s is %q in the plan, the inputs make it %q", field.name, field.have, field.want)})
		}
	}
	return out
}
