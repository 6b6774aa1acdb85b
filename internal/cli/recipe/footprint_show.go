package recipe

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"

	"github.com/firstlight/firstlight/internal/cli/cmdutil"
	"github.com/firstlight/firstlight/internal/diag"
	"github.com/firstlight/firstlight/internal/display"
	"github.com/firstlight/firstlight/internal/recipe/footprint"
	"github.com/firstlight/firstlight/internal/recipe/resolve"
)

// listedComponent is a component of the -o json form of recipe footprint show.
type listedComponent struct {
	footprint.Component

	Source string `json:"source"`
	File   string `json:"file"`
}

func newFootprintShow(s cmdutil.Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "show RECIPE",
		Short: "Show the pods that a recipe's components schedule",
		Long: `Print every workload of a recipe as the scheduler sees it: number of pods, placement,
requests. The column OF is the source: the lock of a chart (rendered), the rules for a chart
(documented), or the kind of object for which an operator creates the workload.`,
		Example: `  firstlight recipe footprint show h100-eks-amazonlinux-training
  firstlight recipe footprint show service=gke,intent=training -o json`,
		Args: cobra.ExactArgs(1),
	}
	var f cmdutil.RecipeFlags
	f.Add(cmd)
	out := cmdutil.AddOutputFlag(cmd)
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		t, r, err := f.OpenRecipe(s, args[0], resolve.Options{})
		if err != nil {
			return err
		}
		set, err := loadFootprints(s, t)
		if err != nil {
			return err
		}
		components, problems := set.Components(r)
		if err := problems.Err(); err != nil {
			return cmdutil.UsageErrorf("%w\ncannot derive the pods of the recipe: %s", err, cmdutil.Count(problems.Count(diag.Error), "problem"))
		}
		listed := []listedComponent{}
		for _, c := range components {
			listed = append(listed, listedComponent{Component: c, Source: c.Source, File: c.File})
		}
		return out.Write(s.Out, listed, func(w io.Writer) { printComponentPods(w, listed) })
	}
	return cmd
}

func printComponentPods(w io.Writer, list []listedComponent) {
	table := display.NewTable(w, "COMPONENT", "WORKLOAD", "CLASS", "PODS", "REQUESTS", "SELECTS", "TOLERATES", "OF")
	total := 0
	for _, c := range list {
		for i := range c.Workloads {
			p := &c.Workloads[i]
			total++
			of := c.Source
			if p.CreatedBy != "" {
				of = p.CreatedBy
			}
			table.Row(c.Name, strings.ToLower(p.Kind)+"/"+p.Name, p.Class, podCount(p),
				resourceText(p.Pod.Requests), selectorText(&p.Pod), tolerationText(p.Pod.Tolerations), of)
		}
		if len(c.Workloads) == 0 {
			table.Row(c.Name, "", "", 0, "", "", "", c.Source)
		}
	}
	table.Flush()
	fmt.Fprintf(w, "\n%s of %s\n", cmdutil.Count(total, "workload"), cmdutil.Count(len(list), "component"))
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

// selectorText is the node selector, with markers for affinity and spread.
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
