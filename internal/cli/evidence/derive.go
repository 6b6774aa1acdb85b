package evidence

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/firstlight/firstlight/internal/accept"
	"github.com/firstlight/firstlight/internal/autoscale"
	"github.com/firstlight/firstlight/internal/capacity"
	"github.com/firstlight/firstlight/internal/cli/cmdutil"
	"github.com/firstlight/firstlight/internal/conformance"
	"github.com/firstlight/firstlight/internal/drift"
	"github.com/firstlight/firstlight/internal/evidence"
	"github.com/firstlight/firstlight/internal/gate"
	"github.com/firstlight/firstlight/internal/pipeline"
	"github.com/firstlight/firstlight/internal/plan"
	"github.com/firstlight/firstlight/internal/pregate/playbook"
	"github.com/firstlight/firstlight/internal/profile"
	"github.com/firstlight/firstlight/internal/schedule"
	"github.com/firstlight/firstlight/internal/site"
	"github.com/firstlight/firstlight/internal/validate"
)

// ChecksOf derives from a run's inputs alone what the run is compared with: the checks that
// judge it again, the plan of its site, profile and command, and its claims.
func ChecksOf(b *evidence.Bundle) (evidence.Derived, error) {
	d, err := planOf(b)
	if err != nil {
		return evidence.Derived{}, err
	}
	claims, found, err := accept.Claims(b)
	if err != nil {
		return d, err
	}
	reports, differing, err := b.CompareReports(cmdutil.Version, chartsOf(b))
	d.Claims, d.Contradictions = slices.Concat(claims, reports), slices.Concat(d.Contradictions, found, differing)
	return d, err
}

// chartsOf returns the charts of the run's gates; nil for a run without a site.
func chartsOf(b *evidence.Bundle) evidence.ChartsFor {
	s, p, err := accept.Used(b)
	if err != nil {
		return nil // planOf returns the error if the run needs a site
	}
	return gate.Charts(s, p)
}

func planOf(b *evidence.Bundle) (evidence.Derived, error) {
	c := parseCommand(b.Header.Command)
	if c.name == "recipe" {
		// A test of recipes has no site; its recipes follow from its selection.
		d, err := schedule.Derive(b)
		if err != nil {
			return d, err
		}
		if b.Header.Simulated != evidence.HardwareSimulated {
			d.Contradictions = append(d.Contradictions, evidence.Contradiction{Field: "simulated", Message: "run.json says " + b.Header.Simulated.String() + ", but a test of recipes has no hardware"})
		}
		return d, nil
	}
	s, p, err := accept.Used(b)
	if err != nil {
		return evidence.Derived{}, err
	}
	d, err := c.derive(b, s, p)
	if err != nil {
		return evidence.Derived{}, err
	}
	d.Problems = append(d.Problems, c.compare(b.Header, s, p)...)
	return d, nil
}

// commandLine has the flags of a run that select its plan.
type commandLine struct {
	name, intent, version         string
	from, only, namespace         string
	allowFailed, add              string
	include, order, notApplicable []string
}

func parseCommand(command []string) commandLine {
	var t commandLine
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
		case "--allow-failed":
			t.allowFailed = value
		case "--add":
			t.add = value
		case "--intent":
			t.intent = value
		case "--conformance":
			t.version = value
		case "--order":
			t.order = strings.Split(value, ",")
		case "--not-applicable":
			t.notApplicable = append(t.notApplicable, value)
		default:
			continue
		}
		i++
	}
	return t
}

// derive makes the plan of the command for a site.
func (t commandLine) derive(b *evidence.Bundle, s *site.Site, p *profile.Profile) (evidence.Derived, error) {
	d := evidence.Derived{Checks: gate.Checks(s, p)}
	var derived plan.Plan
	var err error
	switch t.name {
	case "accept":
		if t.add != "" || b.Header.AddedTo != "" {
			return t.deriveAddition(b, s, p)
		}
		derived, err = gate.Playbook(s, p, gate.Access{}, t.include...)
		derived.AllowFailed, _ = strconv.Atoi(t.allowFailed) // 0 if it is invalid
	case "autoscale":
		derived, err = gate.Chain(s, p, autoscale.Options{}, gate.Access{})
	case "validate":
		return t.deriveCase(b, s, p)
	case "drift":
		return deriveDrift(b, s, p)
	default:
		d.Problems = append(d.Problems, evidence.PlanProblem{Message: fmt.Sprintf("unknown command %q: want one of accept, drift, autoscale, validate, recipe", t.name)})
		return d, nil
	}
	if err != nil {
		return d, fmt.Errorf("derive the plan of run %s: %w", b.Header.Run, err)
	}
	d.Playbooks = playbooksOf(derived)
	d.Plan, err = evidence.DescribePlan(derived)
	return d, err
}

func playbooksOf(p plan.Plan) map[string]playbook.Expected {
	out := map[string]playbook.Expected{}
	for _, s := range p.Steps {
		out[s.Name()] = s.Playbooks
	}
	return out
}

// deriveDrift makes the plan of a comparison with the baseline in the run.
func deriveDrift(b *evidence.Bundle, s *site.Site, p *profile.Profile) (evidence.Derived, error) {
	data, ok := b.Inputs[drift.InputFile]
	if !ok {
		return evidence.Derived{Checks: gate.Checks(s, p), Problems: []evidence.PlanProblem{
			{Message: "the command is drift, but the run has no " + drift.InputFile},
		}}, nil
	}
	baseline, err := drift.Parse(data)
	if err != nil {
		return evidence.Derived{}, fmt.Errorf("derive the plan of run %s: %w", b.Header.Run, err)
	}
	derived, err := drift.Plan(s, p, baseline, gate.Access{})
	if err != nil {
		return evidence.Derived{}, err
	}
	var d evidence.Derived
	if b.Header.Cluster != "" && b.Header.Cluster != baseline.Cluster {
		d.Problems = append(d.Problems, evidence.PlanProblem{Message: fmt.Sprintf("the run is of cluster %s, its baseline %s of cluster %s", b.Header.Cluster, drift.InputFile, baseline.Cluster)})
	}
	for _, step := range derived.Steps {
		d.Checks = append(d.Checks, step.Check)
	}
	d.Playbooks = playbooksOf(derived)
	d.Plan, err = evidence.DescribePlan(derived)
	return d, err
}

// deriveAddition makes the plan of new nodes with the addition in the run.
func (t commandLine) deriveAddition(b *evidence.Bundle, s *site.Site, p *profile.Profile) (evidence.Derived, error) {
	data, ok := b.Inputs[capacity.InputFile]
	if !ok || t.add == "" {
		return evidence.Derived{Checks: gate.Checks(s, p), Problems: []evidence.PlanProblem{
			{Message: "a run that adds nodes has --add in its command, addedTo in run.json and the input " + capacity.InputFile},
		}}, nil
	}
	addition, err := capacity.Parse(data)
	if err != nil {
		return evidence.Derived{}, fmt.Errorf("derive the plan of run %s: %w", b.Header.Run, err)
	}
	derived, err := capacity.Plan(s, p, addition, gate.Access{})
	if err != nil {
		return evidence.Derived{}, err
	}
	var d evidence.Derived
	for _, text := range addition.Differs(b.Header, s) {
		d.Problems = append(d.Problems, evidence.PlanProblem{Message: text})
	}
	for _, step := range derived.Steps {
		d.Checks = append(d.Checks, step.Check)
	}
	d.Playbooks = playbooksOf(derived)
	d.Plan, err = evidence.DescribePlan(derived)
	return d, err
}

// deriveCase also compares the case in the run with the command.
func (t commandLine) deriveCase(b *evidence.Bundle, s *site.Site, p *profile.Profile) (evidence.Derived, error) {
	c, ok, err := validate.CaseOf(b)
	if err != nil {
		return evidence.Derived{}, err
	}
	if !ok {
		return evidence.Derived{Checks: gate.Checks(s, p), Problems: []evidence.PlanProblem{
			{Message: "the command is validate, but the run has no " + validate.InputFile},
		}}, nil
	}
	var d evidence.Derived
	d.Problems, d.Unchecked = t.compareCase(c, s, p, b.Recipe)
	if d.Checks, err = c.Judges(s, p); err != nil {
		return evidence.Derived{}, err
	}
	derived, err := c.Plan(s, p, conformance.Deps{})
	if err != nil {
		return evidence.Derived{}, err
	}
	d.Playbooks = playbooksOf(derived)
	d.Plan, err = evidence.DescribePlan(derived)
	return d, err
}

func (t commandLine) compareCase(c validate.Case, s *site.Site, p *profile.Profile, recipe []byte) (out []evidence.PlanProblem, unchecked string) {
	differ := func(format string, args ...any) {
		out = append(out, evidence.PlanProblem{Message: validate.InputFile + ": " + fmt.Sprintf(format, args...)})
	}
	if c.Version != t.version {
		differ("version is %q, the command says --conformance %q", c.Version, t.version)
	}
	for id, reason := range c.NotApplicable {
		if !slices.ContainsFunc(t.notApplicable, func(text string) bool {
			name, why, _ := strings.Cut(text, "=")
			return name == id && strings.TrimSpace(why) == reason // the case has the reason without surrounding spaces
		}) {
			differ("%s is not applicable (%s), but not by the command", id, reason)
		}
	}
	differences, unchecked := c.Differs(s, p, recipe)
	for _, text := range differences {
		differ("%s", text)
	}
	intent, err := pipeline.ParseIntent(t.intent)
	if err != nil {
		differ("%v", err)
		return out, unchecked
	}
	want, err := pipeline.OrderFor(intent, cmdutil.GPUs(s, p), t.order)
	if err != nil {
		differ("%v", err)
		return out, unchecked
	}
	got, errGot := json.Marshal(c.Order.Steps)
	expected, errExpected := json.Marshal(want.Steps)
	earlier, errEarlier := json.Marshal(pipeline.Earlier(want.Steps))
	if errors.Join(errGot, errExpected, errEarlier) != nil || string(got) != string(expected) && string(got) != string(earlier) || c.Order.Intent != intent {
		differ("the steps differ from the pipeline for %s on %d GPUs", intent, want.GPUs)
	}
	return out, unchecked
}

// compare compares run.json with the command and the site.
func (t commandLine) compare(h evidence.Header, s *site.Site, p *profile.Profile) []evidence.PlanProblem {
	var out []evidence.PlanProblem
	for _, f := range []struct{ name, got, source, want string }{
		{"only", h.Only, "the command", t.only},
		{"from", h.From, "the command", t.from},
		{"include", strings.Join(h.Include, ","), "the command", strings.Join(t.include, ",")},
		{"allow-failed", strconv.Itoa(h.AllowFailed), "the command", cmp.Or(t.allowFailed, "0")},
		{"namespace", h.Namespace, "the command", t.namespace},
		{"site", h.Site, "site.yaml", s.Name},
		{"profile", h.Profile, "profile.yaml", p.Name},
	} {
		if f.got == f.want {
			continue
		}
		key := f.name
		if f.source != "the command" {
			key = "name"
		}
		out = append(out, evidence.PlanProblem{Message: fmt.Sprintf("run.json says %s %q, %s says %s %q", f.name, f.got, f.source, key, f.want)})
	}
	return out
}
