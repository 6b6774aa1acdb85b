package install

import (
	"context"
	"errors"
	"maps"

	"k8s.io/client-go/rest"

	"github.com/firstlight/firstlight/internal/probe/kube"
	"github.com/firstlight/firstlight/internal/recipe/footprint"
	"github.com/firstlight/firstlight/internal/recipe/nodeprofile"
	"github.com/firstlight/firstlight/internal/recipe/resolve"
)

// RecipeError marks a recipe that cannot be installed.
type RecipeError struct{ error }

// Unwrap returns the cause.
func (e *RecipeError) Unwrap() error { return e.error }

// Recipe creates the workloads of a recipe's components on a lab and returns the number of
// components. An error of the recipe itself is a RecipeError.
func Recipe(ctx context.Context, cluster *kube.Cluster, r *resolve.Result) (int, error) {
	footprints, problems := footprint.Load(r.Tree())
	shapes, more := nodeprofile.Load(r.Tree())
	if err := append(problems, more...).Err(); err != nil {
		return 0, &RecipeError{err}
	}
	components, problems := footprints.Components(r)
	if err := problems.Err(); err != nil {
		return 0, &RecipeError{err}
	}
	nodes, err := shapes.Select(r.Criteria)
	if err != nil {
		return 0, &RecipeError{err}
	}
	config := rest.CopyConfig(cluster.Config)
	config.WarningHandler = rest.NoWarnings{} // charts use deprecated node labels
	if cluster, err = kube.New(config); err != nil {
		return 0, err
	}
	errs := []error{Nodes(ctx, cluster.Client, nodeLabels(nodes.System, components), nodeLabels(nodes.Accelerated, components))}
	for _, c := range components {
		if f, ok := footprints.Get(c.Name); ok {
			errs = append(errs, Kinds(ctx, cluster.Dynamic, c.Name, f.Spec.APIs))
		}
	}
	return len(components), errors.Join(append(errs, Apply(ctx, cluster.Client, components))...)
}

// nodeLabels are the labels of a node profile and those that components put on nodes.
func nodeLabels(s *nodeprofile.Node, components []footprint.Component) map[string]string {
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
