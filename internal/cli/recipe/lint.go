package recipe

import (
	"io"

	"github.com/spf13/cobra"

	"github.com/firstlight/firstlight/internal/cli/cmdutil"
	"github.com/firstlight/firstlight/internal/display"
	"github.com/firstlight/firstlight/internal/recipe"
	"github.com/firstlight/firstlight/internal/recipe/lint"
	"github.com/firstlight/firstlight/internal/recipe/rule"
	"github.com/firstlight/firstlight/internal/recipe/tree"
	"github.com/firstlight/firstlight/internal/validate/health"
)

func newLint(s cmdutil.Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "lint [DIR]",
		Short: "Check every overlay and recipe of a tree; exit 1 on an error",
		Long: `Read the whole tree, resolve every recipe, and print each problem with file, line, column,
rule and remedy. The default DIR is the tree that ships with firstlight. --rules prints the
rules instead.

-o github prints workflow commands, which GitHub shows as annotations; -o sarif prints
SARIF 2.1.0 for code scanning.

Exit codes: 0 no error; 1 an error, or with --strict a warning; 2 invalid input.`,
		Example: `  firstlight recipe lint recipes
  firstlight recipe lint recipes --strict -o github
  firstlight recipe lint recipes -o sarif > recipes.sarif
  firstlight recipe lint --rules`,
		Args: cobra.MaximumNArgs(1),
	}
	out := cmdutil.AddOutputFlag(cmd, "github", "sarif")
	strict := cmd.Flags().Bool("strict", false, "treat warnings as errors")
	rules := cmd.Flags().Bool("rules", false, "print the rules")
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		if *rules {
			return writeRules(s.Out, out)
		}
		dir := ""
		if len(args) > 0 {
			dir = args[0]
		}
		t, problems, err := recipe.Open(dir, tree.Options{})
		if err != nil {
			return cmdutil.UsageErrorf("%w", err)
		}
		report := lint.Run(t, problems, health.Lint)
		if err := writeLint(s.Out, out, report); err != nil {
			return err
		}
		if report.Errors > 0 || *strict && report.Warnings > 0 {
			return &cmdutil.ExitError{Code: cmdutil.ExitFailed}
		}
		return nil
	}
	return cmd
}

func writeLint(w io.Writer, out *cmdutil.Output, r lint.Report) error {
	switch out.String() {
	case "github":
		return cmdutil.Unobserved(r.WriteGitHub(w))
	case "sarif":
		return cmdutil.Unobserved(r.WriteSARIF(w, cmdutil.Version))
	default:
		return out.Write(w, r, func(w io.Writer) { _ = r.WriteText(w) })
	}
}

func writeRules(w io.Writer, out *cmdutil.Output) error {
	if f := out.String(); f == "github" || f == "sarif" {
		return cmdutil.UsageErrorf("invalid -o %s with --rules: must be text, json or yaml", f)
	}
	return out.Write(w, rule.All(), func(w io.Writer) {
		table := display.NewTable(w, "RULE", "SEVERITY", "FINDS")
		for _, r := range rule.All() {
			table.Row(r.Name, r.Severity, r.Summary)
		}
		table.Flush()
	})
}
