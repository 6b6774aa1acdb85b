package recipe

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/firstlight/firstlight/internal/ciworkflow"
	"github.com/firstlight/firstlight/internal/impact"
	"github.com/firstlight/firstlight/internal/impact/compare"
)

func newRecipeWorkflow(s Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "workflow",
		Short: "Render the GitHub Actions workflows that test recipes",
		Long: `workflow writes two workflows. recipes.yaml tests a pull request: a job plans (firstlight
recipe plan), a matrix tests tier 1 and tier 2, and a last job, recipes, holds the
results against the plan (firstlight recipe summarize). Require that one check: it is
called the same whatever the matrix holds, and fails when a job that had work was
skipped, cancelled or lost. recipes-all.yaml tests every recipe of a commit, on merge and
at night, and keeps the record that firstlight recipe promote reads; it is never cancelled
for another commit.

--check writes nothing, and exits 1 when the files are not as they would be rendered.`,
		Example: `  firstlight recipe workflow
  firstlight recipe workflow --check
  firstlight recipe workflow --repo ../ours --recipes recipes --use v0.4.0 --harness 'ci/**'`,
		Args: cobra.NoArgs,
	}
	flags := cmd.Flags()
	repo := flags.String("repo", ".", "top of the repository")
	out := flags.String("out", "", "directory to write to (default .github/workflows of --repo)")
	check := flags.Bool("check", false, "write nothing; exit 1 when a file is not as it would be rendered")
	recipes := flags.String("recipes", "recipes", "directory of the recipe tree, relative to the top of the repository")
	main := flags.String("main", "main", "branch that changes are merged to")
	use := flags.String("use", "", "release of firstlight that the workflows install (default: this one); firstlight's own repository builds it")
	harness := flags.StringArray("harness", nil, "pattern of more files that decide how recipes are tested (may be repeated)")
	cmd.RunE = func(*cobra.Command, []string) error {
		own, err := ownRepository(*repo)
		if err != nil {
			return err
		}
		o := ciworkflow.RecipeOptions{Source: ciworkflow.Source{Own: own, Version: *use}, Recipes: filepath.ToSlash(*recipes), Main: *main}
		if o.Version == "" {
			o.Version = version
		}
		for _, g := range *harness {
			o.Harness = append(o.Harness, impact.Glob(g))
		}
		files, err := ciworkflow.RenderRecipes(o)
		if err != nil {
			return usage("%w", err)
		}
		dir := *out
		if dir == "" {
			dir = filepath.Join(*repo, ".github", "workflows")
		}
		return writeWorkflows(s, dir, files, *check)
	}
	return cmd
}

func ownRepository(dir string) (bool, error) {
	data, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, usage("look at the repository: %w", err)
	}
	return compare.Own(data), nil
}

func writeWorkflows(s Streams, dir string, files []ciworkflow.File, check bool) error {
	do := ciworkflow.Write
	if check {
		do = ciworkflow.Different
	}
	names, err := do(dir, files)
	if err != nil {
		return infrastructure(err)
	}
	switch {
	case len(names) == 0:
		fmt.Fprintf(s.Out, "%s: as rendered\n", dir)
	case check:
		fmt.Fprintf(s.Out, "%s: not as rendered: %s\nrun firstlight recipe workflow, with the arguments that the files name, and commit what it writes\n", dir, strings.Join(names, ", "))
		return &exitError{code: ExitFailed}
	default:
		fmt.Fprintf(s.Out, "%s: wrote %s\n", dir, strings.Join(names, ", "))
	}
	return nil
}
