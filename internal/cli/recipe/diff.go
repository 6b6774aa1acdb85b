package recipe

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/firstlight/firstlight/internal/recipe/criteria"
	"github.com/firstlight/firstlight/internal/recipe/query"
	"github.com/firstlight/firstlight/internal/recipe/resolve"
)

// recipeDiff is the -o json form of recipe diff.
type recipeDiff struct {
	A string `json:"a"`
	B string `json:"b"`
	// Compat is what aicr: in A or B stands for; empty without it.
	Compat  string           `json:"compat,omitempty"`
	Equal   bool             `json:"equal"`
	Changes []resolve.Change `json:"changes"`
}

// compatPrefix before a RECIPE asks for the existing resolution of it.
const compatPrefix = "aicr:"

func newRecipeDiff(s Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "diff A B",
		Short: "Print in which values two recipes differ, and what sets them",
		Long: `diff compares two recipes value by value, with values files and overrides merged.
aicr:RECIPE is the recipe as aicr ` + criteria.LegacyVersion + ` resolves it, so that one sees what
migrating would change. --to takes B from another tree, for example that of
another branch.`,
		Example: `  firstlight recipe diff h100-eks-amazonlinux-training h200-eks-amazonlinux-training
  firstlight recipe diff service=eks service=gke -o json
  firstlight recipe diff aicr:h100-eks-amazonlinux-training h100-eks-amazonlinux-training --exit-code`,
		Args: cobra.ExactArgs(2),
	}
	var f recipeFlags
	addRecipesFlag(cmd, &f)
	to := cmd.Flags().String("to", "", "directory of the recipe tree that B is taken from")
	exit := cmd.Flags().Bool("exit-code", false, "exit 1 when they differ")
	out := addOutputFlag(cmd)
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		a, err := diffSide(s, args[0], f.dir)
		if err != nil {
			return err
		}
		other := f.dir
		if *to != "" {
			other = *to
		}
		b, err := diffSide(s, args[1], other)
		if err != nil {
			return err
		}
		changes, err := resolve.Diff(a, b)
		if err != nil {
			return usage("%w", err)
		}
		d := recipeDiff{A: args[0], B: args[1], Equal: len(changes) == 0, Changes: changes}
		if strings.HasPrefix(args[0], compatPrefix) || strings.HasPrefix(args[1], compatPrefix) {
			d.Compat = "aicr " + criteria.LegacyVersion
		}
		if err := out.write(s.Out, d, func(w io.Writer) error { return printDiff(w, d, a, b) }); err != nil {
			return err
		}
		if *exit && !d.Equal {
			return &exitError{code: ExitFailed}
		}
		return nil
	}
	return cmd
}

func diffSide(s Streams, ref, dir string) (*resolve.Result, error) {
	f := recipeFlags{dir: dir}
	name, compat := strings.CutPrefix(ref, compatPrefix)
	if compat {
		f.compat = compatAicr
	}
	t, err := f.open(s)
	if err != nil {
		return nil, err
	}
	n, err := parseRecipe(t, name)
	if err != nil {
		return nil, err
	}
	return n.resolve(t, resolve.Options{Compat: compat, Explain: true})
}

func printDiff(w io.Writer, d recipeDiff, a, b *resolve.Result) error {
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
		fmt.Fprintf(w, "\n%s is what %s resolves\n", compatPrefix, d.Compat)
	}
	if d.Equal {
		_, err := fmt.Fprintf(w, "%s and %s are the same\n", d.A, d.B)
		return err //nolint:wrapcheck // the caller names the stream
	}
	_, err := fmt.Fprintf(w, "\n%d values differ: + only in %s, - only in %s\n", len(d.Changes), d.B, d.A)
	return err //nolint:wrapcheck // the caller names the stream
}

// setBy says which layer set a value last, where that is known.
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
