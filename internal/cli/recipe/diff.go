package recipe

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/firstlight/firstlight/internal/cli/cmdutil"
	"github.com/firstlight/firstlight/internal/recipe/criteria"
	"github.com/firstlight/firstlight/internal/recipe/query"
	"github.com/firstlight/firstlight/internal/recipe/resolve"
)

// recipeDiff is the -o json form of recipe diff.
type recipeDiff struct {
	A string `json:"a"`
	B string `json:"b"`
	// Compat is the version that aicr: in A or B selects.
	Compat  string           `json:"compat,omitempty"`
	Equal   bool             `json:"equal"`
	Changes []resolve.Change `json:"changes"`
}

// compatPrefix before a RECIPE selects the resolution of aicr.
const compatPrefix = "aicr:"

func newDiff(s cmdutil.Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "diff A B",
		Short: "Print the values in which two recipes differ, with their sources",
		Long: `Compare recipes A and B value by value, with values files and overrides merged. Each is a
name, criteria such as service=eks,intent=training, or aicr:RECIPE, the recipe as aicr
` + criteria.LegacyVersion + ` resolves it, to preview a migration. --to reads B from another tree, for
example that of another branch.`,
		Example: `  firstlight recipe diff h100-eks-amazonlinux-training h200-eks-amazonlinux-training
  firstlight recipe diff service=eks service=gke -o json
  firstlight recipe diff aicr:h100-eks-amazonlinux-training h100-eks-amazonlinux-training --exit-code`,
		Args: cobra.ExactArgs(2),
	}
	var f cmdutil.RecipeFlags
	f.Add(cmd)
	to := cmd.Flags().String("to", "", "directory of the recipe tree of B (default: that of A)")
	exit := cmd.Flags().Bool("exit-code", false, "exit 1 if the recipes differ")
	out := cmdutil.AddOutputFlag(cmd)
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		a, err := diffSide(s, args[0], f.Dir)
		if err != nil {
			return err
		}
		other := f.Dir
		if *to != "" {
			other = *to
		}
		b, err := diffSide(s, args[1], other)
		if err != nil {
			return err
		}
		changes, err := resolve.Diff(a, b)
		if err != nil {
			return cmdutil.UsageErrorf("%w", err)
		}
		d := recipeDiff{A: args[0], B: args[1], Equal: len(changes) == 0, Changes: changes}
		if strings.HasPrefix(args[0], compatPrefix) || strings.HasPrefix(args[1], compatPrefix) {
			d.Compat = "aicr " + criteria.LegacyVersion
		}
		if err := out.Write(s.Out, d, func(w io.Writer) { printDiff(w, d, a, b) }); err != nil {
			return err
		}
		if *exit && !d.Equal {
			return &cmdutil.ExitError{Code: cmdutil.ExitFailed}
		}
		return nil
	}
	return cmd
}

func diffSide(s cmdutil.Streams, ref, dir string) (*resolve.Result, error) {
	f := cmdutil.RecipeFlags{Dir: dir}
	name, compat := strings.CutPrefix(ref, compatPrefix)
	if compat {
		f.Compat = cmdutil.CompatAicr
	}
	_, r, err := f.OpenRecipe(s, name, resolve.Options{Compat: compat, Explain: true})
	return r, err
}

func printDiff(w io.Writer, d recipeDiff, a, b *resolve.Result) {
	for _, c := range d.Changes {
		switch c.Op {
		case resolve.Added:
			fmt.Fprintf(w, "+ %s = %s%s\n", c.Name, inline(c.To), setBy(b, c.Path))
		case resolve.Removed:
			fmt.Fprintf(w, "- %s = %s%s\n", c.Name, inline(c.From), setBy(a, c.Path))
		default:
			fmt.Fprintf(w, "~ %s = %s, was %s%s\n", c.Name, inline(c.To), inline(c.From), setBy(b, c.Path))
		}
	}
	if d.Compat != "" {
		fmt.Fprintf(w, "\n%s marks the resolution of %s\n", compatPrefix, d.Compat)
	}
	if d.Equal {
		fmt.Fprintf(w, "%s and %s are identical\n", d.A, d.B)
		return
	}
	fmt.Fprintf(w, "\n%s: + only in %s, - only in %s, ~ different\n", cmdutil.Count(len(d.Changes), "difference"), d.B, d.A)
}

// setBy is the layer that set a value last, if known.
func setBy(r *resolve.Result, path query.Path) string {
	values, err := r.Explain(path)
	if err != nil || len(values) != 1 || len(values[0].Set) == 0 {
		return ""
	}
	last := values[0].Set[len(values[0].Set)-1]
	if last.At == nil {
		return "  by " + last.Layer
	}
	return fmt.Sprintf("  by %s  %s", last.Layer, last.At)
}
