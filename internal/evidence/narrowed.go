package evidence

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/plan"
)

// NarrowedBy are the reasons why the verdict does not cover the whole plan in one run: nodes that
// were left out; steps that were omitted, kept from an earlier time, begun more than once, not applicable or not
// counted; and a cluster that was not identified. Empty: none.
func (b *Bundle) NarrowedBy() []string {
	results := b.Results()
	var out []string
	if b.Header.Only != "" {
		out = append(out, fmt.Sprintf("only %s was selected: 1 of %d checks", b.Header.Only, len(b.Plan.Steps)))
	} else if left := b.withoutVerdict(results); len(left) > 0 {
		word := "left out"
		if !b.Finished {
			word = "no verdict yet"
		}
		out = append(out, word+": "+strings.Join(left, ", "))
	}
	if !b.ended() && (b.Header.Only != "" || len(b.withoutVerdict(results)) == 0) {
		out = append(out, notEnded)
	}
	if b.Header.AddedTo != "" {
		out = append(out, fmt.Sprintf("adds nodes to the accepted run %s: of the gates, only node and collective were run", b.Header.AddedTo))
	}
	out = append(out, b.nodesLeftOut(results)...)
	if reason := b.Header.unidentified(); reason != "" {
		out = append(out, reason)
	}
	out = append(out, keptFrom(results)...)
	out = append(out, b.keptInside(results)...)
	out = append(out, b.EarlierAttempts()...)
	for _, r := range results {
		if r.Verdict == check.NotApplicable {
			out = append(out, fmt.Sprintf("not applicable: %s (%s)", r.Step, r.Reason))
		}
		for _, limit := range r.Lowered {
			out = append(out, fmt.Sprintf("lowered by the site: %s: %s", r.Step, limit))
		}
		if b.Header.Only == "" && r.Verdict != check.Passed && slices.Contains(b.Recommended(), r.Step) {
			out = append(out, fmt.Sprintf("not counted: %s is %s, and only recommended", r.Step, r.Verdict))
		}
	}
	for _, problem := range b.Uncleaned() {
		out = append(out, "clean-up failed: "+problem)
	}
	switch n := len(b.Notes()); n {
	case 0:
	case 1:
		out = append(out, "1 note about an error outside the verdicts")
	default:
		out = append(out, fmt.Sprintf("%d notes about errors outside the verdicts", n))
	}
	return out
}

// unidentified is the reason why the hardware is neither known to be real nor simulated; ""
// if it is known.
func (h Header) unidentified() string {
	switch {
	case h.Simulated != HardwareUnknown:
		return ""
	case h.Cluster == "":
		return "the cluster was not identified: whether its hardware is simulated is unknown"
	case IsMachine(h.Cluster):
		return "the run is of one machine: nothing shows whether its hardware is simulated"
	case IsSlurm(h.Cluster):
		return "the run is of a Slurm cluster: nothing shows whether its hardware is simulated"
	default:
		return "the cluster has no nodes: whether its hardware is simulated is unknown"
	}
}

// withoutVerdict are the steps without a verdict.
func (b *Bundle) withoutVerdict(results []plan.Result) []string {
	var out []string
	for _, s := range b.Plan.Steps {
		if !slices.ContainsFunc(results, func(r plan.Result) bool { return r.Step == s.Name }) {
			out = append(out, s.Name)
		}
	}
	return out
}

// keptFrom is a line for each earlier run with kept verdicts.
func keptFrom(results []plan.Result) []string {
	var runs []string
	kept := map[string][]string{}
	for _, r := range results {
		if r.KeptFrom == "" || !observed(r) {
			continue
		}
		if !slices.Contains(runs, r.KeptFrom) {
			runs = append(runs, r.KeptFrom)
		}
		kept[r.KeptFrom] = append(kept[r.KeptFrom], dated(r))
	}
	var out []string
	for _, run := range runs {
		out = append(out, fmt.Sprintf("kept from run %s: %s", run, strings.Join(kept[run], ", ")))
	}
	return out
}

// keptInside is a line for the verdicts from before the last resume that were not repeated.
func (b *Bundle) keptInside(results []plan.Result) []string {
	var at time.Time
	has, before := map[string]bool{}, map[string]bool{}
	for _, e := range b.Entries {
		switch e.Type {
		case EntryBegun:
			delete(has, e.Step)
			delete(before, e.Step)
		case EntryVerdict:
			has[e.Step] = true
		case EntryResumed:
			at = e.At
			for step := range has {
				before[step] = true
			}
		case EntryCreated, EntryKept, EntryInterrupted, EntryAbandoned, EntryFinished:
		}
	}
	var kept []string
	for _, r := range results {
		if before[r.Step] && r.KeptFrom == "" && observed(r) {
			kept = append(kept, dated(r))
		}
	}
	if len(kept) == 0 {
		return nil
	}
	return []string{fmt.Sprintf("resumed at %s, kept of run %s as it was: %s", at.UTC().Format(time.RFC3339), b.Header.Run, strings.Join(kept, ", "))}
}

// observed reports whether the verdict is based on observations.
func observed(r plan.Result) bool {
	return r.Verdict != check.Blocked && r.Verdict != check.NotApplicable
}

func dated(r plan.Result) string {
	return fmt.Sprintf("%s of %s", r.Step, r.At.UTC().Format(time.RFC3339))
}
