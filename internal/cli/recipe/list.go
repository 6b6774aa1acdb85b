package recipe

import (
	"cmp"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/firstlight/firstlight/internal/recipe/criteria"
	"github.com/firstlight/firstlight/internal/recipe/tree"
)

// recipeList is the -o json form of recipe list.
type recipeList struct {
	Tree string `json:"tree"`
	tree.Stats
	List []recipeItem `json:"list"`
}

// recipeItem is one recipe; its criteria are what resolve asks for.
type recipeItem struct {
	Name     string            `json:"name"`
	Criteria criteria.Criteria `json:"criteria"`
	Base     string            `json:"base"`
	File     string            `json:"file"`
	Leaf     bool              `json:"leaf"`
	Generic  bool              `json:"generic"`
}

func newRecipeList(s Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the recipes of a tree, one for every overlay that states criteria",
		Long: `list prints every overlay that can be asked for, with its criteria. Flags choose
those that state exactly these values. A leaf is an overlay that nothing is based on;
a generic one is for a service with any accelerator.`,
		Example: `  firstlight recipe list
  firstlight recipe list --service eks --intent training --leaves
  firstlight recipe list --recipes ../aicr/recipes -o json`,
	}
	var f recipeFlags
	var c criteriaFlags
	addRecipesFlag(cmd, &f)
	addCriteriaFlags(cmd, &c)
	leaves := cmd.Flags().Bool("leaves", false, "only those that nothing is based on")
	out := addOutputFlag(cmd)
	cmd.RunE = func(*cobra.Command, []string) error {
		t, err := f.open(s)
		if err != nil {
			return err
		}
		asked, err := c.over(criteria.Criteria{})
		if err != nil {
			return err
		}
		list := listRecipes(t, t.Query(asked), *leaves)
		return out.write(s.Out, list, func(w io.Writer) error { return printRecipes(w, list) })
	}
	return cmd
}

func listRecipes(t *tree.Tree, asked criteria.Criteria, leaves bool) recipeList {
	list := recipeList{Tree: t.Label, Stats: t.Stats(), List: []recipeItem{}}
	for _, o := range t.Recipes() {
		if leaves && !o.Leaf() || !asked.Matches(o.Criteria) {
			continue
		}
		list.List = append(list.List, recipeItem{
			Name: o.Name, Criteria: o.Criteria, Base: o.Parent.Name, File: t.Name(o.File), Leaf: o.Leaf(), Generic: o.Generic(),
		})
	}
	return list
}

func printRecipes(w io.Writer, list recipeList) error {
	tw := tabwriter.NewWriter(w, 2, 8, 2, ' ', 0)
	fmt.Fprintln(tw, "NAME\tSERVICE\tACCELERATOR\tOS\tINTENT\tPLATFORM\tNODES\tBASED ON")
	for _, r := range list.List {
		fmt.Fprint(tw, r.Name)
		for _, d := range criteria.Dimensions() {
			fmt.Fprintf(tw, "\t%s", cmp.Or(r.Criteria.Get(d), "-"))
		}
		fmt.Fprintf(tw, "\t%s\n", r.Base)
	}
	if err := tw.Flush(); err != nil {
		return err //nolint:wrapcheck // the caller names the stream
	}
	_, err := fmt.Fprintf(w, "\n%d of %d recipes of %s\n", len(list.List), list.Recipes, list.Tree)
	return err //nolint:wrapcheck // the caller names the stream
}
