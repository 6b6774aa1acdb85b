package recipe

import (
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/display"
	"github.com/firstlight/firstlight/internal/schedule"
)

// printSchedule prints a table of the recipes, then what is wrong, then the sum.
func printSchedule(w io.Writer, r schedule.Report, style display.Style) error {
	tw := tabwriter.NewWriter(w, 2, 8, 2, ' ', 0)
	if len(r.Recipes) > 0 {
		fmt.Fprintln(tw, "RECIPE\tVERDICT\tPODS\tNODES\tCONTROLS\tTIME\tCLASS\tSTANDS FOR")
	}
	for _, res := range r.Recipes {
		fmt.Fprintf(tw, "%s\t%s\t%d\t%d\t%d\t%.1fs\t%s\t%s\n", res.Recipe, res.Verdict,
			res.Pods, res.Nodes, res.Controls, res.Seconds, dash(short(res.Fingerprint)), others(res.StandsFor))
	}
	if err := tw.Flush(); err != nil {
		return err //nolint:wrapcheck // the caller names the stream
	}
	for _, res := range r.Recipes {
		if res.Verdict != check.Passed {
			printScheduleFindings(w, res, style)
		}
	}
	for _, note := range r.Notes {
		fmt.Fprintf(w, "note: %s\n", note)
	}
	fmt.Fprintf(w, "\n%s: %s\n", style.State(stateOf(r.Verdict), string(r.Verdict)), r.Reason)
	if len(r.Recipes) > 0 {
		fmt.Fprintf(w, "%d pods bound on %d nodes, %d controls failed as they must; %.1f s, %.1f s of them to start the control plane\n",
			r.Pods, r.Nodes, r.Controls, r.Seconds, r.StartSeconds)
	}
	if r.Covered > 0 {
		fmt.Fprintf(w, "%d recipes tested stand for %d others of their classes\n", len(r.Recipes), r.Covered)
	}
	for _, dir := range r.Evidence {
		fmt.Fprintf(w, "evidence: %s\n", dir)
	}
	return nil
}

// printScheduleFindings prints why a recipe did not pass: what is wrong, and what to do.
func printScheduleFindings(w io.Writer, res schedule.Result, style display.Style) {
	const most = 12
	fmt.Fprintf(w, "\n%s %s: %s\n", style.State(stateOf(res.Verdict), string(res.Verdict)), style.Bold(res.Recipe), res.Reason)
	for i, f := range res.Findings {
		if i == most {
			fmt.Fprintf(w, "  and %d more: -o json has all of them\n", len(res.Findings)-most)
			break
		}
		fmt.Fprintf(w, "  %s: %s\n      %s\n", f.Suspect, f.Message, f.Remedy)
	}
}

// short is the beginning of a fingerprint.
func short(fingerprint string) string {
	const n = 10
	if len(fingerprint) > n {
		return fingerprint[:n]
	}
	return fingerprint
}

func others(names []string) string {
	if len(names) == 0 {
		return "-"
	}
	return fmt.Sprintf("%d others", len(names))
}
