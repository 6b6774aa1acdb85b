// Package recipe has the command recipe.
package recipe

import (
	"cmp"

	"github.com/spf13/cobra"

	"github.com/firstlight/firstlight/internal/cli/cmdutil"
	"github.com/firstlight/firstlight/internal/recipe/criteria"
)

// New is the command recipe.
func New(s cmdutil.Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "recipe",
		Short: "Resolve, check and test recipes: configuration for given criteria",
		Long: `A recipe is the result of resolving configuration overlays for given criteria:
components with versions and values, constraints, validation. An overlay applies to every
query that matches its criteria; if two overlays set the same value, the more specific
one wins.

RECIPE is the name of an overlay (firstlight recipe list), criteria such as
service=eks,accelerator=h100, or the file of a resolved recipe. The default tree is the
one that ships with firstlight.`,
		Example: `  # List the recipes for EKS
  firstlight recipe list --service eks

  # Resolve a recipe and print where each value comes from
  firstlight recipe resolve --service eks --accelerator h100 --intent training --os amazonlinux --explain

  # Check a tree, and test that every recipe schedules
  firstlight recipe lint recipes
  firstlight recipe test --all

  # Choose the recipes that a change must test
  firstlight recipe plan --base origin/main`,
	}
	cmd.AddCommand(
		newList(s), newResolve(s), newQuery(s), newDiff(s), newLint(s), newConstraints(s), newTest(s), newFootprint(s),
		newPlan(s), newWorkflow(s), newSummarize(s), newPromote(s), newClasses(s),
	)
	return cmd
}

type criteriaFlags struct {
	criteria.Criteria
}

func addCriteriaFlags(cmd *cobra.Command, c *criteriaFlags) {
	flags := cmd.Flags()
	for name, field := range map[string]*string{
		"service": &c.Service, "accelerator": &c.Accelerator, "os": &c.OS, "intent": &c.Intent, "platform": &c.Platform,
	} {
		flags.StringVar(field, name, "", map[string]string{
			"service":     "service of the cluster: eks, gke, aks, oke, kind, self-managed, ...",
			"accelerator": "GPU: h100, h200, b200, gb200, a100, l40s, ...",
			"os":          "operating system of the nodes: ubuntu, amazonlinux, cos, ...",
			"intent":      "intent: training or inference",
			"platform":    "platform on the cluster: kubeflow, dynamo, ...",
		}[name])
	}
	flags.IntVar(&c.Nodes, "nodes", 0, "number of nodes (0: any)")
}

// over overrides a query with the flags.
func (c *criteriaFlags) over(q criteria.Criteria) (criteria.Criteria, error) {
	if c.Nodes < 0 {
		return q, cmdutil.UsageErrorf("invalid --nodes %d: must not be negative", c.Nodes)
	}
	return criteria.Criteria{
		Service: cmp.Or(c.Service, q.Service), Accelerator: cmp.Or(c.Accelerator, q.Accelerator), OS: cmp.Or(c.OS, q.OS),
		Intent: cmp.Or(c.Intent, q.Intent), Platform: cmp.Or(c.Platform, q.Platform), Nodes: cmp.Or(c.Nodes, q.Nodes),
	}, nil
}
