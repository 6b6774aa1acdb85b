package recipe

import (
	"cmp"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/firstlight/firstlight/internal/diag"
	"github.com/firstlight/firstlight/internal/recipe"
	"github.com/firstlight/firstlight/internal/recipe/criteria"
	"github.com/firstlight/firstlight/internal/recipe/resolve"
	"github.com/firstlight/firstlight/internal/recipe/tree"
)

func newRecipe(s Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "recipe",
		Short: "Resolve, check and test recipes, which configuration overlays come to",
		Long: `A recipe is what configuration overlays resolve to for given criteria: components
with their versions and values, constraints, validation. An overlay applies to every
query that states what it states; where two set the same, the more specific one wins.

RECIPE is the name of an overlay (firstlight recipe list), criteria such as
service=eks,accelerator=h100, or the file of a recipe that was resolved before.
Without --recipes the tree that ships with firstlight is used.`,
		Example: `  firstlight recipe list --service eks
  firstlight recipe resolve --service eks --accelerator h100 --intent training --os amazonlinux --explain
  firstlight recipe lint recipes
  firstlight recipe test --all
  firstlight recipe plan --base origin/main`,
	}
	cmd.AddCommand(newRecipeList(s), newRecipeResolve(s), newRecipeQuery(s), newRecipeDiff(s), newRecipeLint(s), newRecipeConstraints(s))
	cmd.AddCommand(newRecipeTest(s))
	cmd.AddCommand(newRecipeFootprint(s))
	cmd.AddCommand(newRecipePlan(s), newRecipeWorkflow(s), newRecipeSummarize(s), newRecipePromote(s))
	cmd.AddCommand(newRecipeClasses(s))
	return cmd
}

// recipeFlags say which tree is used, and how.
type recipeFlags struct {
	dir    string
	compat string
}

// compatAicr is the value of --compat.
const compatAicr = "aicr"

func addRecipesFlag(cmd *cobra.Command, f *recipeFlags) {
	cmd.Flags().StringVar(&f.dir, "recipes", "", "directory of a recipe tree; without it, the one that ships with firstlight")
}

func addCompatFlag(cmd *cobra.Command, f *recipeFlags) {
	cmd.Flags().StringVar(&f.compat, "compat", "", "aicr: resolve as aicr "+criteria.LegacyVersion+" does, to compare before migrating")
}

// open loads the tree; it is an error when it can't be used, warnings are counted.
func (f *recipeFlags) open(s Streams) (*tree.Tree, error) {
	if f.compat != "" && f.compat != compatAicr && f.compat != compatAicr+"@"+criteria.LegacyVersion {
		return nil, usage("invalid --compat %q: want %s or %[2]s@%[3]s, the version that is compared with", f.compat, compatAicr, criteria.LegacyVersion)
	}
	t, problems, err := recipe.Open(f.dir, tree.Options{Legacy: f.compat != ""})
	if err != nil {
		return nil, usage("%w", err)
	}
	if err := problems.Err(); err != nil {
		return nil, usage("%w\n%d problems keep %s from being used", err, problems.Count(diag.Error), t.Label)
	}
	if f.compat != "" {
		for _, p := range problems { // lint, which is strict, does not show them
			fmt.Fprintf(s.Err, "firstlight: %s\n", p)
		}
		return t, nil
	}
	if n := problems.Count(diag.Warning); n > 0 {
		fmt.Fprintf(s.Err, "firstlight: %s has %d warnings: firstlight recipe lint shows them\n", t.Label, n)
	}
	return t, nil
}

// criteriaFlags are a query.
type criteriaFlags struct {
	criteria.Criteria
}

func addCriteriaFlags(cmd *cobra.Command, c *criteriaFlags) {
	flags := cmd.Flags()
	for name, field := range map[string]*string{
		"service": &c.Service, "accelerator": &c.Accelerator, "os": &c.OS, "intent": &c.Intent, "platform": &c.Platform,
	} {
		flags.StringVar(field, name, "", map[string]string{
			"service":     "what runs the cluster: eks, gke, aks, oke, kind, self-managed, ...",
			"accelerator": "the GPU: h100, h200, b200, gb200, a100, l40s, ...",
			"os":          "operating system of the nodes: ubuntu, amazonlinux, cos, ...",
			"intent":      "training or inference",
			"platform":    "framework on top: kubeflow, dynamo, ...",
		}[name])
	}
	flags.IntVar(&c.Nodes, "nodes", 0, "number of nodes; 0: any")
}

// over lays what the flags state over a query.
func (c *criteriaFlags) over(q criteria.Criteria) (criteria.Criteria, error) {
	if c.Nodes < 0 {
		return q, usage("--nodes %d is no number of nodes", c.Nodes)
	}
	return criteria.Criteria{
		Service: cmp.Or(c.Service, q.Service), Accelerator: cmp.Or(c.Accelerator, q.Accelerator), OS: cmp.Or(c.OS, q.OS),
		Intent: cmp.Or(c.Intent, q.Intent), Platform: cmp.Or(c.Platform, q.Platform), Nodes: cmp.Or(c.Nodes, q.Nodes),
	}, nil
}

// resolved classifies what resolving can fail with: all of it is bad input.
func resolved(r *resolve.Result, err error) (*resolve.Result, error) {
	if err == nil {
		return r, nil
	}
	if list, ok := errors.AsType[diag.List](err); ok {
		return nil, usage("%w\n%d problems keep the recipe from being resolved", err, list.Count(diag.Error))
	}
	return nil, usage("%w", err)
}

// readFile reads a file that the user named; - is standard input.
func readFile(s Streams, name string) ([]byte, error) {
	if name == "-" {
		return readAll(s.In)
	}
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, usage("read: %w", err)
	}
	return data, nil
}
