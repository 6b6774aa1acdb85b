package recipe

import (
	"fmt"
	"io"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/cli/cmdutil"
	"github.com/firstlight/firstlight/internal/display"
	"github.com/firstlight/firstlight/internal/schedule"
)

// printSchedule prints a table of the recipes, the findings and the totals.
func printSchedule(w io.Writer, r schedule.Report, style display.Style) {
	if len(r.Recipes) > 0 {
		table := display.NewTable(w, "RECIPE", "VERDICT", "PODS", "NODES", "CONTROLS", "TIME", "CLASS", "REPRESENTS")
		for _, res := range r.Recipes {
			table.Row(res.Recipe, res.Verdict, res.Pods, res.Nodes, res.Controls, fmt.Sprintf("%.1fs", res.Seconds), short(res.Fingerprint), others(res.StandsFor))
		}
		table.Flush()
	}
	for _, res := range r.Recipes {
		if res.Verdict != check.Passed {
			printScheduleFindings(w, res, style)
		}
	}
	for _, note := range r.Notes {
		fmt.Fprintf(w, "note: %s\n", note)
	}
	fmt.Fprintf(w, "\n%s: %s\n", style.State(cmdutil.StateOf(r.Verdict), string(r.Verdict)), r.Reason)
	if len(r.Recipes) > 0 {
		fmt.Fprintf(w, "%d pods bound on %d nodes, %d negative controls failed as expected; %.1f s, of which %.1f s to start the control plane\n",
			r.Pods, r.Nodes, r.Controls, r.Seconds, r.StartSeconds)
	}
	if r.Covered > 0 {
		fmt.Fprintf(w, "%d tested recipes represent %d others of their classes\n", len(r.Recipes), r.Covered)
	}
	for _, dir := range r.Evidence {
		fmt.Fprintf(w, "evidence: %s\n", dir)
	}
}

// printScheduleFindings prints why a recipe did not pass.
func printScheduleFindings(w io.Writer, res schedule.Result, style display.Style) {
	const most = 12
	fmt.Fprintf(w, "\n%s %s: %s\n", style.State(cmdutil.StateOf(res.Verdict), string(res.Verdict)), style.Bold(res.Recipe), res.Reason)
	for i, f := range res.Findings {
		if i == most {
			fmt.Fprintf(w, "  and %d more: -o json prints all\n", len(res.Findings)-most)
			break
		}
		fmt.Fprintf(w, "  %s: %s\n      %s\n", f.Suspect, f.Message, f.Remedy)
	}
}

func short(fingerprint string) string {
	const n = 10
	if len(fingerprint) > n {
		return fingerprint[:n]
	}
	return fingerprint
}

func others(names []string) string {
	if len(names) == 0 {
		return ""
	}
	return fmt.Sprintf("%d others", len(names))
}
