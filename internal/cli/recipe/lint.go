package recipe

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/firstlight/firstlight/internal/recipe"
	"github.com/firstlight/firstlight/internal/recipe/lint"
	"github.com/firstlight/firstlight/internal/recipe/rule"
	"github.com/firstlight/firstlight/internal/recipe/tree"
	"github.com/firstlight/firstlight/internal/validate/health"
)

// lintFormat is the -o flag of lint.
type lintFormat string

var lintFormats = []string{"text", "json", "yaml", "github", "sarif"}

func (f *lintFormat) String() string { return string(*f) }

// Set refuses unknown formats.
func (f *lintFormat) Set(text string) error {
	if !slices.Contains(lintFormats, text) {
		return fmt.Errorf("%q is not one of %s", text, strings.Join(lintFormats, ", "))
	}
	*f = lintFormat(text)
	return nil
}

// Type names the value in help texts.
func (f *lintFormat) Type() string { return strings.Join(lintFormats, "|") }

func newRecipeLint(s Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "lint [DIR]",
		Short: "Check every overlay and every recipe of a tree; exits 1 when there is an error",
		Long: `lint reads the whole tree, resolves every recipe, and reports what is wrong: file,
line and column, the rule, what is wrong and what to do. Without DIR it checks the
tree that ships with firstlight. --rules prints the catalogue of rules.

-o github prints workflow commands, which GitHub shows as annotations of a change;
-o sarif prints SARIF 2.1.0 for code scanning.`,
		Example: `  firstlight recipe lint recipes
  firstlight recipe lint recipes --strict -o github
  firstlight recipe lint recipes -o sarif > recipes.sarif
  firstlight recipe lint --rules`,
		Args: cobra.MaximumNArgs(1),
	}
	out := lintFormat("text")
	cmd.Flags().VarP(&out, "output", "o", "output format: "+strings.Join(lintFormats, ", "))
	if err := cmd.RegisterFlagCompletionFunc("output", cobra.FixedCompletions(lintFormats, cobra.ShellCompDirectiveNoFileComp)); err != nil {
		panic(err) // the flag was added one line above
	}
	strict := cmd.Flags().Bool("strict", false, "warnings are errors")
	rules := cmd.Flags().Bool("rules", false, "print the catalogue of rules instead")
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
			return usage("%w", err)
		}
		report := lint.Run(t, problems, health.Lint)
		if err := writeLint(s.Out, out, report); err != nil {
			return err
		}
		if report.Errors > 0 || *strict && report.Warnings > 0 {
			return &exitError{code: ExitFailed}
		}
		return nil
	}
	return cmd
}

func writeLint(w io.Writer, f lintFormat, r lint.Report) error {
	var err error
	switch f {
	case "github":
		err = r.WriteGitHub(w)
	case "sarif":
		err = r.WriteSARIF(w, version)
	default:
		plain := format(f)
		return plain.write(w, r, r.WriteText)
	}
	return infrastructure(err)
}

func writeRules(w io.Writer, f lintFormat) error {
	if f == "github" || f == "sarif" {
		return usage("--rules is printed as text, json or yaml")
	}
	plain := format(f)
	return plain.write(w, rule.All(), func(w io.Writer) error {
		tw := tabwriter.NewWriter(w, 2, 8, 2, ' ', 0)
		fmt.Fprintln(tw, "RULE\tSEVERITY\tFINDS")
		for _, r := range rule.All() {
			fmt.Fprintf(tw, "%s\t%s\t%s\n", r.Name, r.Severity, r.Summary)
		}
		return tw.Flush() //nolint:wrapcheck // the caller names the stream
	})
}
