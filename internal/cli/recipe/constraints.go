package recipe

import (
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/firstlight/firstlight/internal/check"
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

func newRecipeConstraints(s Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "constraints RECIPE",
		Short: "Hold a recipe's constraints against a snapshot of a cluster",
		Long: `constraints prints a verdict for each constraint of the recipe and of its readiness
phase. What the snapshot does not have is unobserved, never passed. It exits 0 when all
hold, 1 when one does not, 3 when one could not be observed, or there is none.`,
		Example: `  firstlight recipe constraints h100-eks-amazonlinux-training --snapshot snapshot.yaml
  firstlight recipe constraints recipe.yaml --snapshot snapshot.yaml -o json`,
		Args: cobra.ExactArgs(1),
	}
	var f recipeFlags
	addRecipesFlag(cmd, &f)
	addCompatFlag(cmd, &f)
	snapshot := cmd.Flags().String("snapshot", "", "file of kind Snapshot; - is standard input")
	profile := cmd.Flags().String("profile", "", "value of the recipe's profile, as name=value")
	if err := cmd.MarkFlagRequired("snapshot"); err != nil {
		panic(err) // the flag was added a line above
	}
	out := addOutputFlag(cmd)
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		t, err := f.open(s)
		if err != nil {
			return err
		}
		n, err := parseRecipe(t, args[0])
		if err != nil {
			return err
		}
		r, err := n.resolve(t, resolve.Options{Compat: f.compat != "", Profile: *profile})
		if err != nil {
			return err
		}
		data, err := readFile(s, *snapshot)
		if err != nil {
			return err
		}
		seen, err := constraint.ParseSnapshot(*snapshot, data)
		if err != nil {
			return usage("%w", err)
		}
		report := constraintReport{Recipe: args[0], Snapshot: *snapshot, Report: constraint.JudgeAll(demands(r), seen)}
		if err := out.write(s.Out, report, func(w io.Writer) error { return printVerdicts(w, report) }); err != nil {
			return err
		}
		return verdictExit(report.Verdict)
	}
	return cmd
}

// demands are what a snapshot can show: the recipe's constraints, and those of
// the phase that is judged before anything is deployed.
func demands(r *resolve.Result) []model.Constraint {
	list := append([]model.Constraint{}, r.Constraints...)
	if r.Validation != nil && r.Validation.Readiness != nil {
		list = append(list, r.Validation.Readiness.Constraints...)
	}
	return list
}

func printVerdicts(w io.Writer, r constraintReport) error {
	tw := tabwriter.NewWriter(w, 2, 8, 2, ' ', 0)
	fmt.Fprintln(tw, "VERDICT\tCONSTRAINT\tEXPECTED\tACTUAL")
	for _, c := range r.Results {
		verdict := string(c.Verdict)
		if c.Severity == "warning" && c.Verdict != check.Passed {
			verdict += " (warning)"
		}
		fmt.Fprintf(tw, "%s\t%s\t%s\t%s\n", verdict, c.Name, c.Expected, dash(c.Actual))
	}
	if err := tw.Flush(); err != nil {
		return err //nolint:wrapcheck // the caller names the stream
	}
	for _, c := range r.Results {
		if c.Verdict != check.Passed {
			fmt.Fprintf(w, "\n%s: %s\n", c.Name, c.Reason)
			if c.Remediation != "" {
				fmt.Fprintf(w, "    %s\n", c.Remediation)
			}
		}
	}
	_, err := fmt.Fprintf(w, "\nverdict: %s (%s)\n", r.Verdict, r.Reason)
	return err //nolint:wrapcheck // the caller names the stream
}
