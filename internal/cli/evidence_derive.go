package cli

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/firstlight/firstlight/internal/accept"
	"github.com/firstlight/firstlight/internal/autoscale"
	"github.com/firstlight/firstlight/internal/conformance"
	"github.com/firstlight/firstlight/internal/evidence"
	"github.com/firstlight/firstlight/internal/gate"
	"github.com/firstlight/firstlight/internal/plan"
	"github.com/firstlight/firstlight/internal/profile"
	"github.com/firstlight/firstlight/internal/schedule"
	"github.com/firstlight/firstlight/internal/site"
	"github.com/firstlight/firstlight/internal/validate"
)

// checksOf makes what a run is held against from its inputs alone: the checks that judge
// it again, the plan that its site, profile and command demand, and what it says of itself.
func checksOf(b *evidence.Bundle) (evidence.Derived, error) {
	d, err := planOf(b)
	if err != nil {
		return evidence.Derived{}, err
	}
	claims, found, err := accept.Claims(b)
	d.Claims, d.Contradictions = claims, append(d.Contradictions, found...)
	return d, err //nolint:wrapcheck // says what it was doing
}

func planOf(b *evidence.Bundle) (evidence.Derived, error) {
	told := toldOf(b.Header.Command)
	if told.name == "recipe" {
		// A test of recipes has no site: which recipes it took is its command's claim.
		d := evidence.Derived{Checks: schedule.Replay(b)}
		if b.Plan.Name != schedule.PlanName {
			d.Problems = append(d.Problems, evidence.PlanProblem{Message: fmt.Sprintf("the plan is %q, the command makes %q", b.Plan.Name, schedule.PlanName)})
		}
		if !b.Header.Simulated {
			d.Contradictions = append(d.Contradictions, evidence.Contradiction{Field: "simulated", Message: "run.json says false, a test of recipes has no hardware"})
		}
		return d, nil
	}
	s, p, err := accept.Used(b)
	if err != nil {
		return evidence.Derived{}, err //nolint:wrapcheck // says what it was doing
	}
	d, err := told.derive(b, s, p)
	if err != nil {
		return evidence.Derived{}, err
	}
	d.Problems = append(d.Problems, told.compare(b.Header, s, p)...)
	return d, nil
}

// told is what a command line says of the plan that it walks.
type told struct {
	name, intent, version   string
	from, only, namespace   string
	include, order, exempts []string
}

func toldOf(command []string) told {
	var t told
	if len(command) > 1 {
		t.name = command[1]
	}
	for i := 2; i+1 < len(command); i++ {
		value := command[i+1]
		switch command[i] {
		case "--from":
			t.from = value
		case "--only", "--step":
			t.only = value
		case "--namespace":
			t.namespace = value
		case "--include":
			t.include = strings.Split(value, ",")
		case "--intent":
			t.intent = value
		case "--conformance":
			t.version = value
		case "--order":
			t.order = strings.Split(value, ",")
		case "--not-applicable":
			t.exempts = append(t.exempts, value)
		default:
			continue
		}
		i++
	}
	return t
}

// derive makes the plan that the command walks on a site.
func (t told) derive(b *evidence.Bundle, s *site.Site, p *profile.Profile) (evidence.Derived, error) {
	d := evidence.Derived{Checks: gate.Checks(s, p)}
	var walked plan.Plan
	var err error
	switch t.name {
	case "accept":
		walked, err = gate.Playbook(s, p, gate.Reach{}, t.include...)
	case "autoscale":
		walked, err = gate.Chain(s, p, autoscale.Options{}, gate.Reach{})
	case "validate":
		return t.deriveCase(b, s, p)
	default:
		d.Problems = append(d.Problems, evidence.PlanProblem{Message: fmt.Sprintf("unknown command %q: want one of accept, autoscale, validate, recipe", t.name)})
		return d, nil
	}
	if err != nil {
		return d, fmt.Errorf("derive the plan of run %s: %w", b.Header.Run, err)
	}
	d.Plan, err = evidence.DescribePlan(walked)
	return d, err //nolint:wrapcheck // says what it was doing
}

// deriveCase also compares the case, which is data of the run, with the command.
func (t told) deriveCase(b *evidence.Bundle, s *site.Site, p *profile.Profile) (evidence.Derived, error) {
	c, ok, err := validate.CaseOf(b)
	if err != nil {
		return evidence.Derived{}, err //nolint:wrapcheck // names the run
	}
	if !ok {
		return evidence.Derived{Checks: gate.Checks(s, p), Problems: []evidence.PlanProblem{
			{Message: "the command is validate, and the run has no " + validate.InputFile},
		}}, nil
	}
	d := evidence.Derived{Problems: t.compareCase(c, s, p)}
	if d.Checks, err = c.Judges(s, p); err != nil {
		return evidence.Derived{}, err //nolint:wrapcheck // says what it was doing
	}
	walked, err := c.Plan(s, p, conformance.Deps{})
	if err != nil {
		return evidence.Derived{}, err //nolint:wrapcheck // says what it was doing
	}
	d.Plan, err = evidence.DescribePlan(walked)
	return d, err //nolint:wrapcheck // says what it was doing
}

func (t told) compareCase(c validate.Case, s *site.Site, p *profile.Profile) []evidence.PlanProblem {
	var out []evidence.PlanProblem
	differ := func(format string, args ...any) {
		out = append(out, evidence.PlanProblem{Message: validate.InputFile + ": " + fmt.Sprintf(format, args...)})
	}
	if c.Version != t.version {
		differ("version is %q, the command says --conformance %q", c.Version, t.version)
	}
	for id, reason := range c.NotApplicable {
		if !slices.Contains(t.exempts, id+"="+reason) {
			differ("%s is not applicable (%s), the command does not say so", id, reason)
		}
	}
	intent, err := intentOf(t.intent)
	if err != nil {
		differ("%v", err)
		return out
	}
	want, err := orderOf(intent, gpusOf(s, p), t.order)
	if err != nil {
		differ("%v", err)
		return out
	}
	have, errHave := json.Marshal(c.Order.Steps)
	made, errMade := json.Marshal(want.Steps)
	if errHave != nil || errMade != nil || string(have) != string(made) || c.Order.Intent != intent {
		differ("the steps are not those of the pipeline for %s on %d GPUs", intent, want.GPUs)
	}
	return out
}

// compare holds what run.json says of the walk against the command and the site.
func (t told) compare(h evidence.Header, s *site.Site, p *profile.Profile) []evidence.PlanProblem {
	var out []evidence.PlanProblem
	for _, f := range []struct{ name, have, by, want string }{
		{"only", h.Only, "the command", t.only},
		{"from", h.From, "the command", t.from},
		{"include", strings.Join(h.Include, ","), "the command", strings.Join(t.include, ",")},
		{"namespace", h.Namespace, "the command", t.namespace},
		{"site", h.Site, "site.yaml", s.Name},
		{"profile", h.Profile, "profile.yaml", p.Name},
	} {
		if f.have == f.want {
			continue
		}
		says := f.name
		if f.by != "the command" {
			says = "name"
		}
		out = append(out, evidence.PlanProblem{Message: fmt.Sprintf("run.json says %s %q, %s says %s %q", f.name, f.have, f.by, says, f.want)})
	}
	return out
}
