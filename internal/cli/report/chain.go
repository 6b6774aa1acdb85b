package report

import (
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/firstlight/firstlight/internal/accept"
	"github.com/firstlight/firstlight/internal/autoscale"
	"github.com/firstlight/firstlight/internal/autoscale/snapshot"
	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/display"
	"github.com/firstlight/firstlight/internal/evidence"
	"github.com/firstlight/firstlight/internal/plan"
)

// Chain is the -o json object of autoscale. Lists are never null.
type Chain struct {
	Run       string            `json:"run"`
	Verdict   check.Verdict     `json:"verdict"`
	Reason    string            `json:"reason"`
	Simulated evidence.Hardware `json:"simulated"`
	Site      string            `json:"site"`
	Profile   string            `json:"profile"`
	// NarrowedBy are the reasons why the verdict does not cover the whole chain.
	NarrowedBy []string `json:"narrowedBy,omitempty"`
	// Evidence is the run's directory.
	Evidence    string                `json:"evidence"`
	Interrupted bool                  `json:"interrupted,omitempty"`
	Hops        []autoscale.HopReport `json:"hops"`
	Figures     []check.Figure        `json:"figures"`
	Notes       []string              `json:"notes,omitempty"`

	chain autoscale.Report
	// findings of the verdict, for a run without hops.
	findings []check.Finding
}

// NewChain reads the hops of a run from its evidence.
func NewChain(accepted accept.Report) (Chain, error) {
	r := Chain{
		Run: accepted.Run, Verdict: accepted.Verdict, Simulated: accepted.Simulated, Site: accepted.Site, Profile: accepted.Profile,
		NarrowedBy: accepted.NarrowedBy, Evidence: accepted.Evidence, Interrupted: accepted.Interrupted, Notes: accepted.Notes,
		Hops: []autoscale.HopReport{}, Figures: []check.Figure{},
	}
	i := slices.IndexFunc(accepted.Gates, func(g accept.Gate) bool { return g.Gate == autoscale.Name })
	if i < 0 {
		return r, nil
	}
	g := accepted.Gates[i]
	r.Reason, r.findings = g.Reason, g.Findings
	r.Figures = append(r.Figures, g.Figures...)
	b, err := evidence.Load(accepted.Evidence)
	if err != nil {
		return r, err
	}
	chain, ok, err := chainOf(b)
	if err != nil || !ok {
		return r, err
	}
	r.chain, r.Hops = chain, chain.Hops
	return r, nil
}

// chainOf judges the hops in a run's evidence; ok is false for a run without them.
func chainOf(b *evidence.Bundle) (chain autoscale.Report, ok bool, err error) {
	results := b.Results()
	i := slices.IndexFunc(results, func(r plan.Result) bool { return r.Step == autoscale.Name })
	if i < 0 {
		return autoscale.Report{}, false, nil
	}
	obs, err := b.Observations(results[i].Observations)
	if err != nil {
		return autoscale.Report{}, false, err
	}
	if len(check.OfKind(obs, snapshot.KindSetup)) == 0 {
		return autoscale.Report{}, false, nil
	}
	chain, err = autoscale.NewReport(obs)
	return chain, err == nil, err
}

// Print prints the table of hops, findings and the waterfall: where the time went.
func (r Chain) Print(w io.Writer, o Options) {
	s := summary{Options: Options{Style: o.Style, Verbose: true}}
	s.printf("\n%s  site %s, profile %s%s\n\n", o.Style.Bold("run "+display.Escape(r.Run)), display.Escape(r.Site), display.Escape(r.Profile), Hardware(r.Simulated))
	hops(&s.text, r.chain, o.Style)
	for _, h := range r.Hops {
		if h.Verdict == check.Failed || h.Verdict == check.Unobserved {
			for _, f := range findingsOf(h.Verdict, "hop "+h.Hop, h.Findings) {
				s.finding(f)
			}
		}
	}
	if fall := r.chain.Waterfall(painter(o.Style)); fall != "" {
		s.printf("\n%s", fall)
	}
	var findings []Finding
	if len(r.Hops) == 0 {
		s.printf("  %s\n", s.Brief(r.Reason))
		findings = findingsOf(r.Verdict, "", r.findings)
	}
	s.end(w, findings, r.Notes, r.Verdict, r.NarrowedBy, "evidence: "+r.Evidence)
}

// ChainOf prints the hops and the waterfall of a run that has them.
func ChainOf(w io.Writer, b *evidence.Bundle, style display.Style) {
	chain, ok, err := chainOf(b)
	if err != nil || !ok {
		return
	}
	fmt.Fprintln(w)
	hops(w, chain, style)
	fmt.Fprintf(w, "\n%s", chain.Waterfall(painter(style)))
}

func hops(w io.Writer, chain autoscale.Report, style display.Style) {
	if len(chain.Hops) == 0 {
		return
	}
	fmt.Fprintf(w, "  %-8s %-14s %-14s %8s %8s  %s\n", "PHASE", "HOP", "VERDICT", "TOOK", "BUDGET", "REASON")
	for _, h := range chain.Hops {
		fmt.Fprintf(w, "  %-8s %-14s %s %8s %8s  %s\n", h.Phase, h.Hop, verdict(style, h.Verdict), seconds(h.Took), seconds(h.Budget), display.Escape(firstLine(h.Reason)))
	}
}

func seconds(s *float64) string {
	if s == nil {
		return ""
	}
	return display.Seconds(time.Duration(*s * float64(time.Second)))
}

func painter(style display.Style) func(autoscale.Shade, string) string {
	return func(s autoscale.Shade, text string) string {
		switch s {
		case autoscale.ShadeTitle:
			return style.Bold(text)
		case autoscale.ShadeTook:
			return style.State(display.Done, text)
		case autoscale.ShadeOver:
			return style.State(display.Unknown, text)
		case autoscale.ShadeQuiet:
			return style.Dim(text)
		default:
			return text
		}
	}
}
