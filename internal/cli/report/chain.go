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

// chainResult is the -o json object of autoscale. Lists are never null.
type chainResult struct {
	Run       string        `json:"run"`
	Verdict   check.Verdict `json:"verdict"`
	Reason    string        `json:"reason"`
	Simulated bool          `json:"simulated"`
	Site      string        `json:"site"`
	Profile   string        `json:"profile"`
	// NarrowedBy are the reasons why the verdict is not of the whole chain in one go.
	NarrowedBy []string `json:"narrowedBy,omitempty"`
	// Evidence is the run's directory.
	Evidence    string                `json:"evidence"`
	Interrupted bool                  `json:"interrupted,omitempty"`
	Hops        []autoscale.HopReport `json:"hops"`
	Figures     []check.Figure        `json:"figures"`
	Notes       []string              `json:"notes,omitempty"`

	chain autoscale.Report
	// findings are those of the verdict, also where no hop could be judged.
	findings []check.Finding
}

// chainReport reads the hops of a run from its evidence.
func chainReport(walked accept.Report) (chainResult, error) {
	r := chainResult{
		Run: walked.Run, Verdict: walked.Verdict, Simulated: walked.Simulated, Site: walked.Site, Profile: walked.Profile,
		NarrowedBy: walked.NarrowedBy, Evidence: walked.Evidence, Interrupted: walked.Interrupted, Notes: walked.Notes,
		Hops: []autoscale.HopReport{}, Figures: []check.Figure{},
	}
	i := slices.IndexFunc(walked.Gates, func(g accept.Gate) bool { return g.Gate == autoscale.Name })
	if i < 0 {
		return r, nil
	}
	g := walked.Gates[i]
	r.Reason, r.findings = g.Reason, g.Findings
	r.Figures = append(r.Figures, g.Figures...)
	b, err := evidence.Load(walked.Evidence)
	if err != nil {
		return r, err //nolint:wrapcheck // says what it was doing
	}
	chain, ok, err := chainIn(b)
	if err != nil || !ok {
		return r, err
	}
	r.chain, r.Hops = chain, chain.Hops
	return r, nil
}

// chainIn judges the hops of a run that is on disk; ok is false when it observed
// no chain.
func chainIn(b *evidence.Bundle) (chain autoscale.Report, ok bool, err error) {
	results := b.Results()
	i := slices.IndexFunc(results, func(r plan.Result) bool { return r.Step == autoscale.Name })
	if i < 0 {
		return autoscale.Report{}, false, nil
	}
	obs, err := b.Observations(results[i].Observations)
	if err != nil {
		return autoscale.Report{}, false, err //nolint:wrapcheck // says what it was doing
	}
	if len(check.OfKind(obs, snapshot.KindSetup)) == 0 {
		return autoscale.Report{}, false, nil
	}
	chain, err = autoscale.NewReport(obs)
	return chain, err == nil, err //nolint:wrapcheck // says what it was doing
}

// printChain shows a chain: the table of hops, findings, the waterfall.
func printChain(w io.Writer, r chainResult, style display.Style) {
	fmt.Fprintf(w, "\n%s  site %s, profile %s%s\n\n", style.Bold("run "+r.Run), r.Site, r.Profile, simulated(accept.Report{Simulated: r.Simulated}))
	printHops(w, r.chain, style)
	for _, h := range r.Hops {
		if h.Verdict == check.Failed || h.Verdict == check.Unobserved {
			printHopFindings(w, h.Hop, h.Verdict, h.Findings, style)
		}
	}
	if fall := r.chain.Waterfall(painter(style)); fall != "" {
		fmt.Fprintf(w, "\n%s", fall)
	}
	if len(r.Hops) == 0 {
		fmt.Fprintf(w, "  %s\n", firstLine(r.Reason))
		printHopFindings(w, "", r.Verdict, r.findings, style)
	}
	for _, note := range r.Notes {
		fmt.Fprintf(w, "\nnote: %s\n", note)
	}
	printVerdict(w, r.Verdict, r.NarrowedBy, style)
	fmt.Fprintf(w, "evidence: %s\n", r.Evidence)
}

// printHops shows the table of hops.
func printHops(w io.Writer, chain autoscale.Report, style display.Style) {
	if len(chain.Hops) == 0 {
		return
	}
	fmt.Fprintf(w, "  %-8s %-14s %-14s %8s %8s  %s\n", "PHASE", "HOP", "VERDICT", "TOOK", "BUDGET", "OBSERVED")
	for _, h := range chain.Hops {
		fmt.Fprintln(w, hopLine(style, h))
	}
}

func printHopFindings(w io.Writer, hop string, v check.Verdict, findings []check.Finding, style display.Style) {
	if hop != "" {
		hop = " at hop " + hop
	}
	for _, f := range findings {
		fmt.Fprintf(w, "\n%s %s%s\n  seen: %s\n  next: %s\n", style.State(stateOf(v), "✗"), style.Bold(f.Suspect), hop, indent(f.Message), indent(f.Remedy))
	}
}

// painter paints the waterfall.
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

func secondsOf(s *float64) string {
	if s == nil {
		return ""
	}
	return display.Seconds(time.Duration(*s * float64(time.Second)))
}
