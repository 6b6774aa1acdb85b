package recipe

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/firstlight/firstlight/internal/cli/cmdutil"
	"github.com/firstlight/firstlight/internal/display"
	"github.com/firstlight/firstlight/internal/recipe/criteria"
	"github.com/firstlight/firstlight/internal/recipe/tree"
)

// recipeList is the -o json form of recipe list.
type recipeList struct {
	Tree string `json:"tree"`
	tree.Stats
	List []recipeItem `json:"list"`
}

// recipeItem is one recipe with the criteria that resolve to it.
type recipeItem struct {
	Name     string            `json:"name"`
	Criteria criteria.Criteria `json:"criteria"`
	Base     string            `json:"base"`
	File     string            `json:"file"`
	Leaf     bool              `json:"leaf"`
	Generic  bool              `json:"generic"`
}

func newList(s cmdutil.Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the recipes of a tree",
		Long: `List every overlay that states criteria. Flags select the overlays with exactly these
values. A leaf is an overlay that is not the base of another; a generic overlay is for a
service with any accelerator.`,
		Example: `  firstlight recipe list
  firstlight recipe list --service eks --intent training --leaves
  firstlight recipe list --recipes ../aicr/recipes -o json`,
	}
	var f cmdutil.RecipeFlags
	var c criteriaFlags
	f.Add(cmd)
	addCriteriaFlags(cmd, &c)
	leaves := cmd.Flags().Bool("leaves", false, "list leaves only")
	out := cmdutil.AddOutputFlag(cmd)
	cmd.RunE = func(*cobra.Command, []string) error {
		t, err := f.Open(s)
		if err != nil {
			return err
		}
		query, err := c.over(criteria.Criteria{})
		if err != nil {
			return err
		}
		list := listRecipes(t, t.Query(query), *leaves)
		return out.Write(s.Out, list, func(w io.Writer) { printRecipes(w, list) })
	}
	return cmd
}

func listRecipes(t *tree.Tree, query criteria.Criteria, leaves bool) recipeList {
	list := recipeList{Tree: t.Label, Stats: t.Stats(), List: []recipeItem{}}
	for _, o := range t.Recipes() {
		if leaves && !o.Leaf() || !query.Matches(o.Criteria) {
			continue
		}
		list.List = append(list.List, recipeItem{
			Name: o.Name, Criteria: o.Criteria, Base: o.Parent.Name, File: t.Name(o.File), Leaf: o.Leaf(), Generic: o.Generic(),
		})
	}
	return list
}

func printRecipes(w io.Writer, list recipeList) {
	table := display.NewTable(w, "NAME", "SERVICE", "ACCELERATOR", "OS", "INTENT", "PLATFORM", "NODES", "BASED ON")
	for _, r := range list.List {
		cells := []any{r.Name}
		for _, d := range criteria.Dimensions() {
			cells = append(cells, r.Criteria.Get(d))
		}
		table.Row(append(cells, r.Base)...)
	}
	table.Flush()
	fmt.Fprintf(w, "\n%d of %d recipes of %s\n", len(list.List), list.Recipes, list.Tree)
}
