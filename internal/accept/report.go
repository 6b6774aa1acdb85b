package accept

import (
	"slices"
	"time"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/evidence"
	"github.com/firstlight/firstlight/internal/plan"
)

// Report is the result of a run; its JSON is the -o json object.
type Report struct {
	Run     string        `json:"run"`
	Verdict check.Verdict `json:"verdict"`
	// Simulated is null if the cluster was not identified.
	Simulated evidence.Hardware `json:"simulated"`
	Site      string            `json:"site"`
	Profile   string            `json:"profile"`
	// NarrowedBy are the reasons why the verdict does not cover the whole playbook on this
	// cluster at one time.
	NarrowedBy []string `json:"narrowedBy,omitempty"`
	// Evidence is the run's directory.
	Evidence    string   `json:"evidence"`
	Interrupted bool     `json:"interrupted,omitempty"`
	Gates       []Gate   `json:"gates"`
	Notes       []string `json:"notes,omitempty"`
}

// Gate is one row of a Report.
type Gate struct {
	Gate    string        `json:"gate"`
	Verdict check.Verdict `json:"verdict"`
	Reason  string        `json:"reason"`
	// Recommended: the verdict does not count for the run.
	Recommended bool `json:"recommended,omitempty"`
	// Started is absent for a gate that was not observed.
	Started time.Time `json:"started,omitzero"`
	// Duration in seconds.
	Duration float64 `json:"duration"`
	// KeptFrom is the earlier run that reached this verdict.
	KeptFrom string `json:"keptFrom,omitempty"`
	// Lowered are demands that the site sets below the minimum.
	Lowered  []string        `json:"lowered,omitempty"`
	Figures  []check.Figure  `json:"figures"`
	Findings []check.Finding `json:"findings"`
}

func (x *execution) report(p plan.Plan, outcome plan.Outcome) Report {
	h := x.run.Header()
	r := Report{
		Run: x.run.ID(), Verdict: outcome.Verdict, Simulated: h.Simulated, Site: h.Site, Profile: h.Profile,
		Evidence: x.run.Dir(), Interrupted: outcome.Interrupted, Notes: slices.Concat(outcome.Notes, outcome.Uncleaned),
	}
	if b, err := evidence.Load(x.run.Dir()); err == nil {
		r.NarrowedBy = b.NarrowedBy()
	} else {
		r.NarrowedBy = []string{err.Error()}
	}
	results := map[string]plan.Result{}
	for _, res := range outcome.Results {
		results[res.Step] = res
	}
	for _, s := range p.Steps {
		res, ok := results[s.Name()]
		if !ok {
			if x.only == "" && x.opts.Until == "" {
				r.Gates = append(r.Gates, gateOf(plan.Result{Step: s.Name(), Judgement: check.NotObserved("not reached")}))
			}
			continue
		}
		g := gateOf(res)
		g.Recommended = s.Recommended
		r.Gates = append(r.Gates, g)
	}
	return r
}

// gateOf is the row of one result. Lists are never null.
func gateOf(res plan.Result) Gate {
	g := Gate{
		Gate: res.Step, Verdict: res.Verdict, Reason: res.Reason, Started: res.Started,
		Duration: res.Duration().Seconds(), KeptFrom: res.KeptFrom, Lowered: res.Lowered,
		Figures: []check.Figure{}, Findings: []check.Finding{},
	}
	g.Figures = append(g.Figures, res.Figures...)
	g.Findings = append(g.Findings, res.Findings...)
	return g
}

// ReportOf is the report of a stored run.
func ReportOf(b *evidence.Bundle) Report {
	v := b.Summary()
	r := Report{
		Run: b.Header.Run, Verdict: v.Verdict, Simulated: v.Simulated, Site: v.Site, Profile: v.Profile,
		NarrowedBy: v.NarrowedBy, Evidence: b.Dir, Notes: v.Notes, Gates: []Gate{},
	}
	for _, res := range v.Results {
		g := gateOf(res)
		g.Recommended = slices.Contains(b.Recommended(), res.Step)
		r.Gates = append(r.Gates, g)
	}
	for _, name := range v.Omitted {
		if b.Header.Only == "" {
			r.Gates = append(r.Gates, gateOf(plan.Result{Step: name, Judgement: check.NotObserved("not reached")}))
		}
	}
	return r
}
