package recipe

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/firstlight/firstlight/internal/cli/cmdutil"
	"github.com/firstlight/firstlight/internal/display"
	"github.com/firstlight/firstlight/internal/recipe/tree"
	"github.com/firstlight/firstlight/internal/schedule"
)

// recipeClasses is the -o json form of recipe classes.
type recipeClasses struct {
	Tree    string            `json:"tree"`
	Recipes int               `json:"recipes"`
	Classes []schedule.Class  `json:"classes"`
	Tiers   []schedule.Saving `json:"tiers"`
	// Unmade are recipes without a class: their nodes and pods cannot be derived.
	Unmade []unmade `json:"unmade,omitempty"`
}

type unmade struct {
	Recipe string `json:"recipe"`
	Why    string `json:"why"`
}

// classDifference is the -o json form of recipe classes --explain.
type classDifference struct {
	A            string                `json:"a"`
	B            string                `json:"b"`
	Same         bool                  `json:"same"`
	Fingerprints [2]string             `json:"fingerprints"`
	Differences  []schedule.Difference `json:"differences"`
}

func newClasses(s cmdutil.Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "classes [--explain A B]",
		Short: "List the classes of recipes that the scheduler cannot distinguish",
		Long: `Group the recipes of a tree by what the scheduler sees: nodes, pods, the GPU workload, the
negative controls. Tiers 1 and 2 test one representative of each class; tier 3 tests every
recipe, and the verdicts of a class must agree.

--explain prints the differences between two recipes.`,
		Args: cobra.ArbitraryArgs,
		Example: `  firstlight recipe classes
  firstlight recipe classes --explain h100-eks-ubuntu-training h100-eks-amazonlinux-training
  firstlight recipe classes --recipes recipes -o json`,
	}
	var f cmdutil.RecipeFlags
	f.Add(cmd)
	explain := cmd.Flags().Bool("explain", false, "print the differences between two recipes")
	out := cmdutil.AddOutputFlag(cmd)
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		switch {
		case *explain && len(args) != 2:
			return cmdutil.UsageErrorf("--explain needs the names of two recipes, got %d", len(args))
		case !*explain && len(args) > 0:
			return cmdutil.UsageErrorf("classes accepts no arguments without --explain")
		}
		t, err := f.Open(s)
		if err != nil {
			return err
		}
		source, problems := schedule.Open(t)
		if err := problems.Err(); err != nil {
			return cmdutil.UsageErrorf("%w", err)
		}
		if *explain {
			return explainClasses(s, out, source, args[0], args[1])
		}
		return listClasses(s, out, t, source)
	}
	return cmd
}

func listClasses(s cmdutil.Streams, out *cmdutil.Output, t *tree.Tree, source *schedule.Source) error {
	list := recipeClasses{Tree: t.Label}
	var members []schedule.Member
	for _, name := range source.Names() {
		c, err := source.Case(name)
		if err != nil {
			return cmdutil.UsageErrorf("%w", err)
		}
		list.Recipes++
		if len(c.Problems) > 0 {
			list.Unmade = append(list.Unmade, unmade{name, c.Problems[0].String()})
			continue
		}
		members = append(members, schedule.Member{Recipe: name, Fingerprint: c.Fingerprint})
	}
	list.Classes = schedule.ClassesOf(members)
	list.Tiers = schedule.Savings(list.Classes, func(name string) bool {
		o, ok := t.Overlay(name)
		return ok && o.Generic()
	})
	if err := out.Write(s.Out, list, func(w io.Writer) { printClasses(w, list) }); err != nil {
		return err
	}
	if len(list.Unmade) > 0 {
		return &cmdutil.ExitError{Code: cmdutil.ExitFailed}
	}
	return nil
}

func printClasses(w io.Writer, list recipeClasses) {
	table := display.NewTable(w, "CLASS", "SIZE", "REPRESENTATIVE", "OTHERS")
	for _, c := range list.Classes {
		others := slices.DeleteFunc(slices.Clone(c.Members), func(m string) bool { return m == c.Representative })
		table.Row(fmt.Sprintf("%.12s", c.Fingerprint), len(c.Members), c.Representative, strings.Join(others, ", "))
	}
	table.Flush()
	fmt.Fprintf(w, "\n%d recipes of %s in %d classes\n", list.Recipes-len(list.Unmade), list.Tree, len(list.Classes))
	for _, tier := range list.Tiers {
		fmt.Fprintf(w, "tier %d: %d recipes, %d tests%s\n", tier.Tier, tier.Recipes, tier.Tests, saved(tier))
	}
	for _, u := range list.Unmade {
		fmt.Fprintf(w, "without a class: %s: %s\n", u.Recipe, u.Why)
	}
}

func saved(tier schedule.Saving) string {
	if tier.Tests == tier.Recipes {
		return ""
	}
	return fmt.Sprintf(", %d saved", tier.Recipes-tier.Tests)
}

func explainClasses(s cmdutil.Streams, out *cmdutil.Output, source *schedule.Source, a, b string) error {
	left, err := madeCase(source, a)
	if err != nil {
		return err
	}
	right, err := madeCase(source, b)
	if err != nil {
		return err
	}
	apart := classDifference{A: a, B: b, Fingerprints: [2]string{left.Fingerprint, right.Fingerprint}, Differences: schedule.Diff(left.Scenario, right.Scenario)}
	apart.Same = len(apart.Differences) == 0
	if apart.Same {
		apart.Differences = []schedule.Difference{}
	}
	return out.Write(s.Out, apart, func(w io.Writer) { printApart(w, apart) })
}

func madeCase(source *schedule.Source, name string) (schedule.Case, error) {
	c, err := source.Case(name)
	if err != nil {
		return c, cmdutil.UsageErrorf("%w", err)
	}
	if len(c.Problems) > 0 {
		return c, cmdutil.UsageErrorf("cannot derive the nodes and pods of %s:\n%w", name, c.Problems)
	}
	return c, nil
}

func printApart(w io.Writer, apart classDifference) {
	if apart.Same {
		fmt.Fprintf(w, "%s and %s are one class (%.12s): the scheduler cannot distinguish them\n", apart.A, apart.B, apart.Fingerprints[0])
	}
	fmt.Fprintf(w, "a  %s (%.12s)\nb  %s (%.12s)\n", apart.A, apart.Fingerprints[0], apart.B, apart.Fingerprints[1])
	for _, d := range apart.Differences {
		fmt.Fprintf(w, "\n%s\n  a  %s\n  b  %s\n", d.Path, d.A, d.B)
	}
	fmt.Fprintf(w, "\n%d differences\n", len(apart.Differences))
}
