package cmdutil

import (
	"context"
	"errors"

	"github.com/firstlight/firstlight/internal/lab/install"
	"github.com/firstlight/firstlight/internal/probe/kube"
	"github.com/firstlight/firstlight/internal/recipe/resolve"
)

// InstallRecipe creates the workloads of a recipe's components on a lab and returns the
// number of components.
func InstallRecipe(ctx context.Context, cluster *kube.Cluster, r *resolve.Result) (int, error) {
	n, err := install.Recipe(ctx, cluster, r)
	if invalid, ok := errors.AsType[*install.RecipeError](err); ok {
		return 0, UsageErrorf("%w", invalid)
	}
	return n, Unobserved(err)
}
