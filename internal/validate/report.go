package validate

import (
	"fmt"
	"slices"
	"strings"

	"github.com/firstlight/firstlight/internal/accept"
	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/conformance/submission"
	"github.com/firstlight/firstlight/internal/evidence"
	"github.com/firstlight/firstlight/internal/pipeline"
)

// Report is what became of a validation; its JSON is validate's -o json object and the
// content of validation-result.yaml.
type Report struct {
	Run string `json:"run"`
	// Verdict is over all steps, the artifacts among them.
	Verdict check.Verdict   `json:"verdict"`
	Intent  pipeline.Intent `json:"intent"`
	// Conformance is the version of the programme.
	Conformance string            `json:"conformance"`
	Simulated   evidence.Hardware `json:"simulated"`
	Site        string            `json:"site"`
	Profile     string            `json:"profile"`
	Recipe      string            `json:"recipe"`
	// RecipeDigest is of the recipe as resolved.
	RecipeDigest string `json:"recipeDigest"`
	// GPUs that the order of the steps was proved on.
	GPUs int `json:"gpus"`
	// NarrowedBy are the reasons why the verdict does not cover all steps of one run.
	NarrowedBy []string `json:"narrowedBy,omitempty"`
	// Evidence is the run's directory, Artifacts where they were collected.
	Evidence    string   `json:"evidence"`
	Artifacts   string   `json:"artifacts,omitempty"`
	Interrupted bool     `json:"interrupted,omitempty"`
	Steps       []Step   `json:"steps"`
	Notes       []string `json:"notes,omitempty"`
}

// Step is what became of a step of the pipeline.
type Step struct {
	Number  int           `json:"number"`
	Name    string        `json:"name"`
	Title   string        `json:"title"`
	Verdict check.Verdict `json:"verdict"`
	Reason  string        `json:"reason"`
	// Duration in seconds, of all its checks.
	Duration float64 `json:"duration"`
	// Checks are what it consists of.
	Checks []accept.Gate `json:"checks"`
	// Recommended are further checks, which the step's verdict does not include.
	Recommended []Recommendation `json:"recommended,omitempty"`
}

// Recommendation is what became of a requirement that should be met, and fails nothing.
type Recommendation struct {
	accept.Gate
	// Status is the programme's word for it; empty where too little was seen to say one.
	Status submission.Status `json:"status"`
}

// Report is the report of a run. One of a single check has that check's verdict.
func (c Case) Report(accepted accept.Report) (Report, error) {
	r := Report{
		Run: accepted.Run, Verdict: accepted.Verdict, Intent: c.Order.Intent, Conformance: c.Version, Simulated: accepted.Simulated,
		Site: accepted.Site, Profile: accepted.Profile, Recipe: c.Recipe, RecipeDigest: c.Digest, GPUs: c.Order.GPUs,
		NarrowedBy: accepted.NarrowedBy, Evidence: accepted.Evidence, Interrupted: accepted.Interrupted, Notes: accepted.Notes, Steps: []Step{},
	}
	rows := map[string]accept.Gate{}
	for _, g := range accepted.Gates {
		rows[g.Gate] = g
	}
	recommended, err := Recommended(c.Version)
	if err != nil {
		return r, err
	}
	for i, s := range c.Order.Steps {
		if s.Name == stepArtifacts {
			continue
		}
		names, err := c.names(s)
		if err != nil {
			return r, err
		}
		step := Step{Number: i + 1, Name: s.Name, Title: s.Title, Checks: []accept.Gate{}}
		demanded := 0
		for _, name := range names {
			only := slices.Contains(recommended, name)
			if !only {
				demanded++
			}
			row, ok := rows[name]
			switch {
			case !ok:
			case only:
				step.Recommended = append(step.Recommended, recommendation(row))
				step.Duration += row.Duration
			default:
				step.Checks = append(step.Checks, row)
				step.Duration += row.Duration
			}
		}
		if len(step.Checks) == 0 && len(step.Recommended) == 0 {
			continue // not asked for
		}
		step.conclude(demanded)
		r.Steps = append(r.Steps, step)
	}
	return r, nil
}

// recommendation says a verdict in the programme's words.
func recommendation(row accept.Gate) Recommendation {
	status, _ := submission.ShownBy(row.Verdict, row.Reason).Status()
	return Recommendation{Gate: row, Status: status}
}

// Through is the report of a run that ended after a step: its verdict is that step's,
// and what comes later is left out.
func (r Report) Through(step string) (Report, error) {
	for i, s := range r.Steps {
		if s.Name == step {
			if r.Verdict, r.Steps = s.Verdict, r.Steps[:i+1]; r.Verdict == check.NotApplicable {
				r.Verdict = check.Unobserved // a step of which nothing applies has shown nothing
			}
			return r, nil
		}
	}
	return r, fmt.Errorf("the run did not reach %s", step)
}

// Last is the check that a step of the case's order ends with; empty for no step.
func (c Case) Last(step string) (string, error) {
	if step == "" {
		return "", nil
	}
	var all []string
	for _, s := range c.Order.Steps {
		if s.Name == step && step != stepArtifacts {
			names, err := c.names(s)
			if err != nil {
				return "", err
			}
			return names[len(names)-1], nil
		}
		if s.Name != stepArtifacts {
			all = append(all, s.Name)
		}
	}
	return "", fmt.Errorf("unknown step %q: want one of %s", step, strings.Join(all, ", "))
}

// conclude sets the verdict of a step with the expected number of checks, or of the only
// recommendation that ran.
func (s *Step) conclude(want int) {
	if len(s.Checks) == 0 {
		s.Verdict, s.Reason = s.Recommended[0].Verdict, s.Recommended[0].Reason
		return
	}
	var verdicts []check.Verdict
	passed, away := 0, 0
	first := ""
	for _, row := range s.Checks {
		verdicts = append(verdicts, row.Verdict)
		switch {
		case row.Verdict == check.Passed:
			passed++
		case row.Verdict == check.NotApplicable:
			away++
		case first == "" && want == 1:
			first = row.Reason
		case first == "":
			first = row.Gate + ": " + row.Reason
		}
	}
	s.Verdict, s.Reason = check.Overall(verdicts), first
	if !slices.ContainsFunc(verdicts, func(v check.Verdict) bool { return v != verdicts[0] }) {
		s.Verdict = verdicts[0]
	}
	absent := want - len(s.Checks)
	if absent > 0 && s.Verdict == check.Passed {
		s.Verdict = check.Unobserved // a part of it says nothing of the whole
	}
	if want == 1 && s.Verdict == check.Passed {
		s.Reason = s.Checks[0].Reason
	}
	if want > 1 {
		s.Reason = s.counted(passed, want, away, absent, first)
	}
}

// counted says how many of a step's checks were shown, and the first reason of another.
func (s *Step) counted(passed, want, away, absent int, first string) string {
	reason := fmt.Sprintf("%d of %d shown", passed, want)
	if away > 0 {
		reason += fmt.Sprintf(", %d not applicable", away)
	}
	if absent > 0 {
		reason += fmt.Sprintf(", %d not checked", absent)
	}
	if first != "" {
		reason += "; " + first
	}
	if n := len(s.Recommended); n > 0 {
		reason += fmt.Sprintf("; of %d recommended: %s", n, s.statusCounts())
	}
	return reason
}

// statusCounts counts the recommendations by their status.
func (s *Step) statusCounts() string {
	var out []string
	for _, status := range append(submission.Statuses(), "") {
		n := 0
		for _, r := range s.Recommended {
			if r.Status == status {
				n++
			}
		}
		switch {
		case n == 0:
		case status == "":
			out = append(out, fmt.Sprintf("%d open", n))
		default:
			out = append(out, fmt.Sprintf("%d %s", n, status))
		}
	}
	return strings.Join(out, ", ")
}

// Names are the checks of a step of the case's order.
func (c Case) names(s pipeline.Step) ([]string, error) {
	switch s.Name {
	case stepConformance:
		return Requirements(c.Version)
	case stepIntent:
		return []string{string(c.Order.Intent)}, nil
	default:
		return []string{s.Name}, nil
	}
}
