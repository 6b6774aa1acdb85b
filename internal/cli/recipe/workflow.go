package recipe

import (
	"cmp"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/firstlight/firstlight/internal/ciworkflow"
	"github.com/firstlight/firstlight/internal/cli/cmdutil"
	"github.com/firstlight/firstlight/internal/impact"
)

func newWorkflow(s cmdutil.Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "workflow",
		Short: "Render the GitHub Actions workflows that test recipes",
		Long: `Write two workflows. recipes.yaml tests a pull request: a job plans (firstlight recipe
plan), a matrix tests tier 1 and tier 2, and the last job, recipes, compares the results
with the plan (firstlight recipe summarize). Require that one check: its name does not
depend on the matrix, and it fails if a job with work was skipped, cancelled or lost.
recipes-all.yaml tests every recipe of a commit, on merge and at night, and keeps the
record for firstlight recipe promote; it is never cancelled for another commit.

--check writes nothing, and exits 1 if a file differs from its rendering.`,
		Example: `  firstlight recipe workflow
  firstlight recipe workflow --check
  firstlight recipe workflow --repo ../ours --recipes recipes --use v0.4.0 --harness 'ci/**'`,
		Args: cobra.NoArgs,
	}
	flags := cmd.Flags()
	repo := flags.String("repo", ".", "root of the repository")
	out := flags.String("out", "", "directory to write to (default: .github/workflows of --repo)")
	check := flags.Bool("check", false, "write nothing; exit 1 if a file differs from its rendering")
	recipes := flags.String("recipes", "recipes", "directory of the recipe tree, relative to the root of the repository")
	main := flags.String("main", "main", "main branch")
	use := flags.String("use", "", "release of firstlight that the workflows install (default: this one); firstlight's own repository builds it")
	harness := flags.StringArray("harness", nil, "pattern of additional harness files (repeatable)")
	cmd.RunE = func(*cobra.Command, []string) error {
		own, err := cmdutil.IsOwnRepository(*repo)
		if err != nil {
			return err
		}
		o := ciworkflow.RecipeOptions{Source: ciworkflow.Source{Own: own, Version: cmp.Or(*use, cmdutil.Version)}, Recipes: filepath.ToSlash(*recipes), Main: *main}
		for _, g := range *harness {
			o.Harness = append(o.Harness, impact.Glob(g))
		}
		files, err := ciworkflow.RenderRecipes(o)
		if err != nil {
			return cmdutil.UsageErrorf("%w", err)
		}
		dir := *out
		if dir == "" {
			dir = filepath.Join(*repo, ".github", "workflows")
		}
		return writeWorkflows(s, dir, files, *check)
	}
	return cmd
}

func writeWorkflows(s cmdutil.Streams, dir string, files []ciworkflow.File, check bool) error {
	apply := ciworkflow.Write
	if check {
		apply = ciworkflow.Different
	}
	names, err := apply(dir, files)
	if err != nil {
		return cmdutil.Unobserved(err)
	}
	switch {
	case len(names) == 0:
		fmt.Fprintf(s.Out, "%s: up to date\n", dir)
	case check:
		fmt.Fprintf(s.Out, "%s: out of date: %s\nrun firstlight recipe workflow with the arguments in the files, and commit the result\n", dir, strings.Join(names, ", "))
		return &cmdutil.ExitError{Code: cmdutil.ExitFailed}
	default:
		fmt.Fprintf(s.Out, "%s: wrote %s\n", dir, strings.Join(names, ", "))
	}
	return nil
}
