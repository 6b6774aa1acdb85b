package recipe

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/firstlight/firstlight/internal/diag"
	"github.com/firstlight/firstlight/internal/recipe/footprint"
	"github.com/firstlight/firstlight/internal/recipe/tree"
)

func newRecipeFootprint(s Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "footprint",
		Short: "Show which pods components schedule, and lock them from their charts",
		Long: `A footprint is the pods that a component schedules: footprints/NAME.yaml of a recipe
tree. A rendered one is a lock of what the component's chart was rendered to, for every
set of values that recipes have; a documented one keeps the chart's rules as they are
documented, for charts that could not be had. What an operator makes of its own objects
is in no chart: rules say it in both.`,
		Example: `  firstlight recipe footprint list
  firstlight recipe footprint show h100-eks-amazonlinux-training
  firstlight recipe footprint update --recipes recipes kai-scheduler`,
	}
	cmd.AddCommand(newRecipeFootprintList(s), newRecipeFootprintShow(s), newRecipeFootprintUpdate(s))
	return cmd
}

// loadFootprints reads the footprints of a tree; problems that keep them from being
// used are bad input.
func loadFootprints(s Streams, t *tree.Tree) (*footprint.Set, error) {
	set, problems := footprint.Load(t)
	if err := problems.Err(); err != nil {
		return nil, usage("%w\n%d problems keep the footprints of %s from being used", err, problems.Count(diag.Error), t.Label)
	}
	if set.Shipped {
		fmt.Fprintf(s.Err, "firstlight: %s has no footprints: those that ship with firstlight are used\n", t.Label)
	}
	return set, nil
}

// footprintItem is one footprint; Chart is a kustomization's source for one of these.
type footprintItem struct {
	Name    string `json:"name"`
	Chart   string `json:"chart"`
	Version string `json:"version"`
	Source  string `json:"source"`
	// Renders is how many sets of values are locked, Rules how many workloads rules
	// describe, or give their class.
	Renders int    `json:"renders"`
	Rules   int    `json:"rules"`
	File    string `json:"file"`
}

func newRecipeFootprintList(s Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List footprints: of which chart and version, and whether rendered or documented",
		Example: `  firstlight recipe footprint list
  firstlight recipe footprint list --recipes ../recipes -o json`,
		Args: cobra.NoArgs,
	}
	var f recipeFlags
	addRecipesFlag(cmd, &f)
	out := addOutputFlag(cmd)
	cmd.RunE = func(*cobra.Command, []string) error {
		t, err := f.open(s)
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
		return out.write(s.Out, list, func(w io.Writer) error { return printFootprints(w, list) })
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

func printFootprints(w io.Writer, list []footprintItem) error {
	tw := tabwriter.NewWriter(w, 2, 8, 2, ' ', 0)
	fmt.Fprintln(tw, "NAME\tVERSION\tSOURCE\tRENDERS\tRULES\tCHART")
	rendered := 0
	for _, f := range list {
		if f.Source == footprint.Rendered {
			rendered++
		}
		fmt.Fprintf(tw, "%s\t%s\t%s\t%d\t%d\t%s\n", f.Name, dash(f.Version), f.Source, f.Renders, f.Rules, dash(f.Chart))
	}
	if err := tw.Flush(); err != nil {
		return err //nolint:wrapcheck // the caller names the stream
	}
	_, err := fmt.Fprintf(w, "\n%d footprints, %d of them rendered\n", len(list), rendered)
	return err //nolint:wrapcheck // the caller names the stream
}
