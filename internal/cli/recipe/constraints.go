package recipe

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/cli/cmdutil"
	"github.com/firstlight/firstlight/internal/display"
	"github.com/firstlight/firstlight/internal/recipe/constraint"
	"github.com/firstlight/firstlight/internal/recipe/model"
	"github.com/firstlight/firstlight/internal/recipe/resolve"
)

// constraintReport is the -o json form of recipe constraints.
type constraintReport struct {
	Recipe   string `json:"recipe"`
	Snapshot string `json:"snapshot"`
	constraint.Report
}

func newConstraints(s cmdutil.Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "constraints RECIPE",
		Short: "Check a recipe's constraints against a snapshot of a cluster",
		Long: `Print a verdict for each constraint of the recipe and of its readiness phase. A value that
the snapshot lacks is unobserved, never passed.

Exit codes: 0 all constraints hold; 1 one does not; 3 one was not observed, or none exist.`,
		Example: `  firstlight recipe constraints h100-eks-amazonlinux-training --snapshot snapshot.yaml
  firstlight recipe constraints recipe.yaml --snapshot snapshot.yaml -o json`,
		Args: cobra.ExactArgs(1),
	}
	var f cmdutil.RecipeFlags
	f.Add(cmd)
	f.AddCompat(cmd)
	snapshot := cmd.Flags().String("snapshot", "", "file of kind Snapshot (-: standard input)")
	profile := cmd.Flags().String("profile", "", "value of the recipe's profile, as name=value")
	cmdutil.RequireFlags(cmd, "snapshot")
	out := cmdutil.AddOutputFlag(cmd)
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		t, err := f.Open(s)
		if err != nil {
			return err
		}
		n, err := cmdutil.ParseRecipe(t, args[0])
		if err != nil {
			return err
		}
		r, err := n.Resolve(t, resolve.Options{Compat: f.Compat != "", Profile: *profile})
		if err != nil {
			return err
		}
		data, err := cmdutil.ReadFile(s, *snapshot)
		if err != nil {
			return err
		}
		measured, err := constraint.ParseSnapshot(*snapshot, data)
		if err != nil {
			return cmdutil.UsageErrorf("%w", err)
		}
		report := constraintReport{Recipe: args[0], Snapshot: *snapshot, Report: constraint.JudgeAll(readinessConstraints(r), measured)}
		if err := out.Write(s.Out, report, func(w io.Writer) { printVerdicts(w, report) }); err != nil {
			return err
		}
		return cmdutil.VerdictError(report.Verdict)
	}
	return cmd
}

// readinessConstraints are those of the recipe and of the phase before the deployment.
func readinessConstraints(r *resolve.Result) []model.Constraint {
	list := append([]model.Constraint{}, r.Constraints...)
	if r.Validation != nil && r.Validation.Readiness != nil {
		list = append(list, r.Validation.Readiness.Constraints...)
	}
	return list
}

func printVerdicts(w io.Writer, r constraintReport) {
	table := display.NewTable(w, "VERDICT", "CONSTRAINT", "EXPECTED", "ACTUAL")
	for _, c := range r.Results {
		verdict := string(c.Verdict)
		if c.Severity == "warning" && c.Verdict != check.Passed {
			verdict += " (warning)"
		}
		table.Row(verdict, c.Name, c.Expected, c.Actual)
	}
	table.Flush()
	for _, c := range r.Results {
		if c.Verdict != check.Passed {
			fmt.Fprintf(w, "\n%s: %s\n", c.Name, c.Reason)
			if c.Remediation != "" {
				fmt.Fprintf(w, "    %s\n", c.Remediation)
			}
		}
	}
	fmt.Fprintf(w, "\nverdict: %s (%s)\n", r.Verdict, r.Reason)
}
