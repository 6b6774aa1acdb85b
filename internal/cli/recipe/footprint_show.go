package recipe

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"

	"github.com/firstlight/firstlight/internal/diag"
	"github.com/firstlight/firstlight/internal/recipe/footprint"
	"github.com/firstlight/firstlight/internal/recipe/resolve"
)

// shownComponent is a component of the -o json form of recipe footprint show.
type shownComponent struct {
	footprint.Component

	Source string `json:"source"`
	File   string `json:"file"`
}

func newRecipeFootprintShow(s Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "show RECIPE",
		Short: "Show the pods that a recipe's components schedule",
		Long: `show prints every workload of a recipe as the scheduler sees it: how many pods, where
they may be, what they ask for. OF says where it is from: the lock of a chart, the
documented rules of one, or the kind of object that an operator makes it of.`,
		Example: `  firstlight recipe footprint show h100-eks-amazonlinux-training
  firstlight recipe footprint show service=gke,intent=training -o json`,
		Args: cobra.ExactArgs(1),
	}
	var f recipeFlags
	addRecipesFlag(cmd, &f)
	out := addOutputFlag(cmd)
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		t, err := f.open(s)
		if err != nil {
			return err
		}
		n, err := parseRecipe(t, args[0])
		if err != nil {
			return err
		}
		r, err := n.resolve(t, resolve.Options{})
		if err != nil {
			return err
		}
		set, err := loadFootprints(s, t)
		if err != nil {
			return err
		}
		components, problems := set.Components(r)
		if err := problems.Err(); err != nil {
			return usage("%w\n%d problems keep the pods of the recipe from being known", err, problems.Count(diag.Error))
		}
		shown := []shownComponent{}
		for _, c := range components {
			shown = append(shown, shownComponent{Component: c, Source: c.Source, File: c.File})
		}
		return out.write(s.Out, shown, func(w io.Writer) error { return printComponentPods(w, shown) })
	}
	return cmd
}

func printComponentPods(w io.Writer, list []shownComponent) error {
	tw := tabwriter.NewWriter(w, 2, 8, 2, ' ', 0)
	fmt.Fprintln(tw, "COMPONENT\tWORKLOAD\tCLASS\tPODS\tREQUESTS\tSELECTS\tTOLERATES\tOF")
	total := 0
	for _, c := range list {
		for i := range c.Workloads {
			p := &c.Workloads[i]
			total++
			of := c.Source
			if p.CreatedBy != "" {
				of = p.CreatedBy
			}
			fmt.Fprintf(tw, "%s\t%s/%s\t%s\t%s\t%s\t%s\t%s\t%s\n", c.Name, strings.ToLower(p.Kind), p.Name, p.Class, podCount(p),
				dash(resourceText(p.Pod.Requests)), dash(selectorText(&p.Pod)), dash(tolerationText(p.Pod.Tolerations)), dash(of))
		}
		if len(c.Workloads) == 0 {
			fmt.Fprintf(tw, "%s\t-\t-\t0\t-\t-\t-\t%s\n", c.Name, dash(c.Source))
		}
	}
	if err := tw.Flush(); err != nil {
		return err //nolint:wrapcheck // the caller names the stream
	}
	_, err := fmt.Fprintf(w, "\n%d workloads of %d components\n", total, len(list))
	return err //nolint:wrapcheck // the caller names the stream
}

func podCount(w *footprint.Workload) string {
	if w.Replicas == 0 {
		return "each node"
	}
	return strconv.Itoa(int(w.Replicas))
}

func resourceText(list corev1.ResourceList) string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(list)) {
		q := list[name]
		out = append(out, string(name)+"="+q.String())
	}
	return strings.Join(out, " ")
}

// selectorText is the node selector; an affinity is only said to be there.
func selectorText(p *footprint.Pod) string {
	var out []string
	for _, key := range slices.Sorted(maps.Keys(p.NodeSelector)) {
		out = append(out, key+"="+p.NodeSelector[key])
	}
	if p.Affinity != nil {
		out = append(out, "affinity")
	}
	if len(p.TopologySpreadConstraints) > 0 {
		out = append(out, "spread")
	}
	return strings.Join(out, " ")
}

func tolerationText(list []corev1.Toleration) string {
	var out []string
	for i := range list {
		t := &list[i]
		text := t.Key
		switch {
		case t.Key == "" && t.Effect == "":
			text = "everything"
		case t.Key == "":
			text = "all"
		case t.Operator != corev1.TolerationOpExists:
			text += "=" + t.Value
		}
		if t.Effect != "" {
			text += ":" + string(t.Effect)
		}
		out = append(out, text)
	}
	return strings.Join(out, " ")
}
