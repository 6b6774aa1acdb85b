package recipe

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/firstlight/firstlight/internal/recipe/tree"
	"github.com/firstlight/firstlight/internal/schedule"
	"github.com/firstlight/firstlight/internal/schedule/scenario"
)

// recipeClasses is the -o json form of recipe classes.
type recipeClasses struct {
	Tree    string            `json:"tree"`
	Recipes int               `json:"recipes"`
	Classes []schedule.Class  `json:"classes"`
	Tiers   []schedule.Saving `json:"tiers"`
	// Unmade are recipes that no nodes and pods could be made of, and why.
	Unmade []unmade `json:"unmade,omitempty"`
}

type unmade struct {
	Recipe string `json:"recipe"`
	Why    string `json:"why"`
}

// recipeApart is the -o json form of recipe classes --explain.
type recipeApart struct {
	A            string                `json:"a"`
	B            string                `json:"b"`
	Same         bool                  `json:"same"`
	Fingerprints [2]string             `json:"fingerprints"`
	Differences  []schedule.Difference `json:"differences"`
}

func newRecipeClasses(s Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "classes [--explain A B]",
		Short: "List the recipes that are the same to the scheduler",
		Long: `classes groups the recipes of a tree by what the scheduler can see of them: nodes,
pods, the GPU workload, the negative controls. Of each class, tiers 1 and 2 test one
recipe, which stands for the others; tier 3 tests them all, and they have to agree.

--explain says what tells two recipes apart, fact by fact.`,
		Args: cobra.ArbitraryArgs,
		Example: `  firstlight recipe classes
  firstlight recipe classes --explain h100-eks-ubuntu-training h100-eks-amazonlinux-training
  firstlight recipe classes --recipes recipes -o json`,
	}
	var f recipeFlags
	addRecipesFlag(cmd, &f)
	explain := cmd.Flags().Bool("explain", false, "say what tells the two recipes apart that are named")
	out := addOutputFlag(cmd)
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		switch {
		case *explain && len(args) != 2:
			return usage("--explain takes the names of two recipes, %d are there", len(args))
		case !*explain && len(args) > 0:
			return usage("classes takes no names; with --explain it takes two")
		}
		t, err := f.open(s)
		if err != nil {
			return err
		}
		source, problems := schedule.Open(t)
		if err := problems.Err(); err != nil {
			return usage("%w", err)
		}
		if *explain {
			return explainClasses(s, out, source, args[0], args[1])
		}
		return listClasses(s, out, t, source)
	}
	return cmd
}

func listClasses(s Streams, out *format, t *tree.Tree, source *schedule.Source) error {
	list := recipeClasses{Tree: t.Label}
	var cells []scenario.Scenario
	for _, name := range source.Names() {
		c, err := source.Case(name)
		if err != nil {
			return usage("%w", err)
		}
		list.Recipes++
		if len(c.Problems) > 0 {
			list.Unmade = append(list.Unmade, unmade{name, c.Problems[0].String()})
			continue
		}
		cells = append(cells, c.Scenario)
	}
	list.Classes = schedule.ClassesOf(cells)
	list.Tiers = schedule.Savings(list.Classes, func(name string) bool {
		o, ok := t.Overlay(name)
		return ok && o.Generic()
	})
	if err := out.write(s.Out, list, func(w io.Writer) error { return printClasses(w, list) }); err != nil {
		return err
	}
	if len(list.Unmade) > 0 {
		return &exitError{code: ExitFailed}
	}
	return nil
}

func printClasses(w io.Writer, list recipeClasses) error {
	tw := tabwriter.NewWriter(w, 2, 8, 2, ' ', 0)
	fmt.Fprintln(tw, "CLASS\tSIZE\tREPRESENTATIVE\tOTHERS")
	for _, c := range list.Classes {
		others := slices.DeleteFunc(slices.Clone(c.Members), func(m string) bool { return m == c.Representative })
		fmt.Fprintf(tw, "%.12s\t%d\t%s\t%s\n", c.Fingerprint, len(c.Members), c.Representative, dash(strings.Join(others, ", ")))
	}
	if err := tw.Flush(); err != nil {
		return err //nolint:wrapcheck // the caller names the stream
	}
	fmt.Fprintf(w, "\n%d recipes of %s in %d classes\n", list.Recipes-len(list.Unmade), list.Tree, len(list.Classes))
	for _, tier := range list.Tiers {
		fmt.Fprintf(w, "tier %d: %d recipes, %d tests%s\n", tier.Tier, tier.Recipes, tier.Tests, saved(tier))
	}
	for _, u := range list.Unmade {
		fmt.Fprintf(w, "in no class: %s: %s\n", u.Recipe, u.Why)
	}
	return nil
}

func saved(tier schedule.Saving) string {
	if tier.Tests == tier.Recipes {
		return ""
	}
	return fmt.Sprintf(", %d saved", tier.Recipes-tier.Tests)
}

func explainClasses(s Streams, out *format, source *schedule.Source, a, b string) error {
	left, err := madeCase(source, a)
	if err != nil {
		return err
	}
	right, err := madeCase(source, b)
	if err != nil {
		return err
	}
	apart := recipeApart{A: a, B: b, Fingerprints: [2]string{left.Fingerprint, right.Fingerprint}, Differences: schedule.Diff(left.Scenario, right.Scenario)}
	apart.Same = len(apart.Differences) == 0
	if apart.Same {
		apart.Differences = []schedule.Difference{}
	}
	return out.write(s.Out, apart, func(w io.Writer) error { return printApart(w, apart) })
}

// madeCase is a recipe's case that a cell could be made of.
func madeCase(source *schedule.Source, name string) (schedule.Case, error) {
	c, err := source.Case(name)
	if err != nil {
		return c, usage("%w", err)
	}
	if len(c.Problems) > 0 {
		return c, usage("no nodes and pods can be made of %s:\n%w", name, c.Problems)
	}
	return c, nil
}

func printApart(w io.Writer, apart recipeApart) error {
	if apart.Same {
		_, err := fmt.Fprintf(w, "%s and %s are one class (%.12s): the scheduler can't tell them apart\n", apart.A, apart.B, apart.Fingerprints[0])
		return err //nolint:wrapcheck // the caller names the stream
	}
	fmt.Fprintf(w, "a  %s (%.12s)\nb  %s (%.12s)\n", apart.A, apart.Fingerprints[0], apart.B, apart.Fingerprints[1])
	for _, d := range apart.Differences {
		fmt.Fprintf(w, "\n%s\n  a  %s\n  b  %s\n", d.Path, d.A, d.B)
	}
	_, err := fmt.Fprintf(w, "\n%d differences\n", len(apart.Differences))
	return err //nolint:wrapcheck // the caller names the stream
}
