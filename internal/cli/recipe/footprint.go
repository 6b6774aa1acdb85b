package recipe

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/firstlight/firstlight/internal/cli/cmdutil"
	"github.com/firstlight/firstlight/internal/diag"
	"github.com/firstlight/firstlight/internal/display"
	"github.com/firstlight/firstlight/internal/recipe/footprint"
	"github.com/firstlight/firstlight/internal/recipe/tree"
)

func newFootprint(s cmdutil.Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "footprint",
		Short: "List, show and lock the pods that components schedule",
		Long: `A footprint lists the pods that a component schedules, in footprints/NAME.yaml of a recipe
tree. A rendered footprint is locked from the component's chart, rendered with every set of
values that recipes use. A documented footprint has rules from the chart's documentation,
for a chart that is not available. Rules also describe objects that an operator creates
and no chart contains.`,
		Example: `  firstlight recipe footprint list
  firstlight recipe footprint show h100-eks-amazonlinux-training
  firstlight recipe footprint update --recipes recipes kai-scheduler`,
	}
	cmd.AddCommand(newFootprintList(s), newFootprintShow(s), newFootprintUpdate(s))
	return cmd
}

// loadFootprints reads the footprints of a tree. A problem is a usage error.
func loadFootprints(s cmdutil.Streams, t *tree.Tree) (*footprint.Set, error) {
	set, problems := footprint.Load(t)
	if err := problems.Err(); err != nil {
		return nil, cmdutil.UsageErrorf("%w\ncannot use the footprints of %s: %s", err, t.Label, cmdutil.Count(problems.Count(diag.Error), "problem"))
	}
	if set.Shipped {
		fmt.Fprintf(s.Err, "firstlight: %s has no footprints: using those that ship with firstlight\n", t.Label)
	}
	return set, nil
}

// footprintItem is one footprint. Chart is the source of a kustomization.
type footprintItem struct {
	Name    string `json:"name"`
	Chart   string `json:"chart"`
	Version string `json:"version"`
	Source  string `json:"source"`
	// Renders counts the locked sets of values, Rules the workloads that rules describe.
	Renders int    `json:"renders"`
	Rules   int    `json:"rules"`
	File    string `json:"file"`
}

func newFootprintList(s cmdutil.Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List footprints with chart, version and source",
		Example: `  firstlight recipe footprint list
  firstlight recipe footprint list --recipes ../recipes -o json`,
		Args: cobra.NoArgs,
	}
	var f cmdutil.RecipeFlags
	f.Add(cmd)
	out := cmdutil.AddOutputFlag(cmd)
	cmd.RunE = func(*cobra.Command, []string) error {
		t, err := f.Open(s)
		if err != nil {
			return err
		}
		set, err := loadFootprints(s, t)
		if err != nil {
			return err
		}
		list := []footprintItem{}
		for _, f := range set.Footprints {
			list = append(list, footprintOf(f))
		}
		return out.Write(s.Out, list, func(w io.Writer) { printFootprints(w, list) })
	}
	return cmd
}

func footprintOf(f *footprint.Footprint) footprintItem {
	item := footprintItem{Name: f.Metadata.Name, Source: f.Spec.Source, Renders: len(f.Spec.Renders), Rules: len(f.Spec.Workloads), File: f.Name}
	switch {
	case f.Spec.Chart != nil:
		item.Chart, item.Version = strings.TrimSuffix(f.Spec.Chart.Repository, "/")+"/"+f.Spec.Chart.Name, f.Spec.Chart.Version
	case f.Spec.Kustomize != nil:
		item.Chart, item.Version = f.Spec.Kustomize.Source+"//"+f.Spec.Kustomize.Path, f.Spec.Kustomize.Tag
	}
	return item
}

func printFootprints(w io.Writer, list []footprintItem) {
	table := display.NewTable(w, "NAME", "VERSION", "SOURCE", "RENDERS", "RULES", "CHART")
	rendered := 0
	for _, f := range list {
		if f.Source == footprint.Rendered {
			rendered++
		}
		table.Row(f.Name, f.Version, f.Source, f.Renders, f.Rules, f.Chart)
	}
	table.Flush()
	fmt.Fprintf(w, "\n%s, %d rendered\n", cmdutil.Count(len(list), "footprint"), rendered)
}
