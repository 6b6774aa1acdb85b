package lab

import (
	"context"
	"errors"
	"fmt"
	"maps"

	"github.com/spf13/cobra"
	"k8s.io/client-go/rest"

	"github.com/firstlight/firstlight/internal/lab"
	"github.com/firstlight/firstlight/internal/lab/install"
	"github.com/firstlight/firstlight/internal/probe/kube"
	"github.com/firstlight/firstlight/internal/recipe/footprint"
	"github.com/firstlight/firstlight/internal/recipe/nodeprofile"
	"github.com/firstlight/firstlight/internal/recipe/resolve"
)

func newLabInstall(s Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "install RECIPE",
		Short: "Leave on a lab what installing a recipe's components would leave on a cluster",
		Long: `install creates the workloads of a recipe's components on a lab that is up: each with
the replicas, requests, selectors and tolerations of its footprint, in its own namespace.
What is there already stays as it is.`,
		Example: `  firstlight lab install h100-kind-training
  firstlight lab install service=kind,intent=inference --name big`,
		Args: cobra.ExactArgs(1),
	}
	name := addLabName(cmd)
	var f recipeFlags
	addRecipesFlag(cmd, &f)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
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
		h, err := lab.Attach(cmd.Context(), *name)
		if err != nil {
			return usage("%w: start it with firstlight lab up --name %s", err, *name)
		}
		status, err := h.Status(cmd.Context())
		if err != nil {
			return infrastructure(err)
		}
		cluster, err := kube.Open(status.Info.Kubeconfig, "")
		if err != nil {
			return infrastructure(err)
		}
		made, err := installOn(cmd.Context(), cluster, r)
		if err != nil {
			return err
		}
		fmt.Fprintf(s.Err, "lab %s has the %d components of %s\n", *name, made, args[0])
		return nil
	}
	return cmd
}

// installOn leaves the components of a recipe on a lab and returns how many there are.
func installOn(ctx context.Context, cluster *kube.Cluster, r *resolve.Result) (int, error) {
	footprints, problems := footprint.Load(r.Tree())
	shapes, more := nodeprofile.Load(r.Tree())
	if err := append(problems, more...).Err(); err != nil {
		return 0, usage("%w", err)
	}
	components, problems := footprints.Components(r)
	if err := problems.Err(); err != nil {
		return 0, usage("%w", err)
	}
	nodes, err := shapes.Select(r.Criteria)
	if err != nil {
		return 0, usage("%w", err)
	}
	quiet := rest.CopyConfig(cluster.Config)
	quiet.WarningHandler = rest.NoWarnings{} // charts name nodes by labels of before, and that is theirs to change
	if cluster, err = kube.New(quiet); err != nil {
		return 0, infrastructure(err)
	}
	errs := []error{install.Nodes(ctx, cluster.Client, labelsFor(nodes.System, components), labelsFor(nodes.Accelerated, components))}
	for _, c := range components {
		if f, ok := footprints.Get(c.Name); ok {
			errs = append(errs, install.Kinds(ctx, cluster.Dynamic, c.Name, f.Spec.APIs))
		}
	}
	return len(components), infrastructure(errors.Join(append(errs, install.Apply(ctx, cluster.Client, components))...))
}

// labelsFor are the labels of a node's shape that its maker sets, and those that
// components put on it. Where labels decide which nodes a component puts its own on, all
// nodes of a lab's kind have them.
func labelsFor(s *nodeprofile.Node, components []footprint.Component) map[string]string {
	labels := maps.Clone(s.Labels)
	if labels == nil {
		labels = map[string]string{}
	}
	for _, c := range components {
		maps.Copy(labels, s.Discovered[c.Name])
		for _, p := range c.Publishes {
			maps.Copy(labels, p.Labels)
		}
	}
	return labels
}
