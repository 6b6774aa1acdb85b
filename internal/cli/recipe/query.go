package recipe

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"
	"sigs.k8s.io/yaml"

	"github.com/firstlight/firstlight/internal/recipe/query"
	"github.com/firstlight/firstlight/internal/recipe/resolve"
)

func newRecipeQuery(s Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "query SELECTOR [RECIPE]",
		Short: "Print one value of a recipe, with all its values files and overrides merged",
		Long: `query prints what a selector selects of the recipe: criteria, overlays, mixins,
profile, constraints.NAME, components.NAME (with its Helm values under values),
deploymentOrder, validation.PHASE. [3] is the entry of a list, * every entry,
["a.b"] a key with a dot; a dot alone is everything.`,
		Example: `  firstlight recipe query components.gpu-operator.version h100-eks-amazonlinux-training
  firstlight recipe query components.gpu-operator.values.driver --service eks --explain
  firstlight recipe query components.*.version service=gke,accelerator=h100 -o json`,
		Args: cobra.RangeArgs(1, 2),
	}
	var f resolveFlags
	addResolveFlags(cmd, &f)
	out := addOutputFlag(cmd)
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		path, err := query.Parse(args[0])
		if err != nil {
			return usage("%w", err)
		}
		r, err := f.run(s, args[1:])
		if err != nil {
			return err
		}
		doc, err := r.Document()
		if err != nil {
			return usage("%w", err)
		}
		selected, err := query.Select(doc, path)
		if err != nil {
			return usage("%w", err)
		}
		if f.explain {
			return explainQuery(s, out, r, path)
		}
		return out.write(s.Out, selected, func(w io.Writer) error { return printSelected(w, selected) })
	}
	return cmd
}

func explainQuery(s Streams, out *format, r *resolve.Result, path query.Path) error {
	values, err := r.Explain(path)
	if err != nil {
		return usage("%w", err)
	}
	if len(values) == 0 {
		return usage("%s is computed: no overlay sets it", path)
	}
	return out.write(s.Out, values, func(w io.Writer) error {
		for _, v := range values {
			printValue(w, v)
		}
		return nil
	})
}

// printSelected prints a scalar as it is, and anything else as YAML.
func printSelected(w io.Writer, v any) error {
	switch v.(type) {
	case map[string]any, []any:
		data, err := yaml.Marshal(v)
		if err != nil {
			return fmt.Errorf("encode: %w", err)
		}
		_, err = w.Write(data)
		return err //nolint:wrapcheck // the caller names the stream
	case nil:
		_, err := fmt.Fprintln(w, "null")
		return err //nolint:wrapcheck // the caller names the stream
	default:
		_, err := fmt.Fprintln(w, v)
		return err //nolint:wrapcheck // the caller names the stream
	}
}
