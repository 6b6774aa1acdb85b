package recipe

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"
	"sigs.k8s.io/yaml"

	"github.com/firstlight/firstlight/internal/cli/cmdutil"
	"github.com/firstlight/firstlight/internal/recipe/query"
	"github.com/firstlight/firstlight/internal/recipe/resolve"
)

func newQuery(s cmdutil.Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "query SELECTOR [RECIPE]",
		Short: "Print a value of a recipe, with values files and overrides merged",
		Long: `Print what a selector matches in the recipe: criteria, overlays, mixins, profile,
constraints.NAME, components.NAME (with its Helm values under values), deploymentOrder,
validation.PHASE. [3] is an entry of a list, * every entry, ["a.b"] a key with a dot; a
single dot is the whole recipe.`,
		Example: `  firstlight recipe query components.gpu-operator.version h100-eks-amazonlinux-training
  firstlight recipe query components.gpu-operator.values.driver --service eks --explain
  firstlight recipe query components.*.version service=gke,accelerator=h100 -o json`,
		Args: cobra.RangeArgs(1, 2),
	}
	var f resolveFlags
	addResolveFlags(cmd, &f)
	out := cmdutil.AddOutputFlag(cmd)
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		path, err := query.Parse(args[0])
		if err != nil {
			return cmdutil.UsageErrorf("%w", err)
		}
		r, err := f.run(s, args[1:])
		if err != nil {
			return err
		}
		doc, err := r.Document()
		if err != nil {
			return cmdutil.UsageErrorf("%w", err)
		}
		selected, err := query.Select(doc, path)
		if err != nil {
			return cmdutil.UsageErrorf("%w", err)
		}
		if f.explain {
			return explainQuery(s, out, r, path)
		}
		return out.Write(s.Out, selected, func(w io.Writer) { printSelected(w, selected) })
	}
	return cmd
}

func explainQuery(s cmdutil.Streams, out *cmdutil.Output, r *resolve.Result, path query.Path) error {
	values, err := r.Explain(path)
	if err != nil {
		return cmdutil.UsageErrorf("%w", err)
	}
	if len(values) == 0 {
		return cmdutil.UsageErrorf("%s is computed, not set by an overlay", path)
	}
	return out.Write(s.Out, values, func(w io.Writer) {
		for _, v := range values {
			printValue(w, v)
		}
	})
}

// printSelected prints a scalar as it is, other values as YAML.
func printSelected(w io.Writer, v any) {
	switch v.(type) {
	case map[string]any, []any:
		data, err := yaml.Marshal(v)
		if err != nil {
			data = fmt.Appendln(nil, v) // decoded YAML, so it can be encoded
		}
		_, _ = w.Write(data)
	case nil:
		fmt.Fprintln(w, "null")
	default:
		fmt.Fprintln(w, v)
	}
}
