package accept

import (
	"context"
	"fmt"
	"slices"

	"github.com/firstlight/firstlight/internal/evidence"
	"github.com/firstlight/firstlight/internal/gate/ray"
)

// otherRayCluster returns how the RayCluster differs from the one that verdicts of these steps are about. It is read
// last, as it may take minutes until the cluster is ready.
func (x *execution) otherRayCluster(ctx context.Context, b *evidence.Bundle, steps []string) ([]string, error) {
	if x.opts.Site.Ray == nil || x.opts.Cluster == nil {
		return nil, nil
	}
	for _, r := range b.Results() {
		if !slices.Contains(steps, r.Step) {
			continue
		}
		obs, err := b.Observations(r.Observations)
		if err != nil {
			return nil, fmt.Errorf("compare the RayCluster with that of run %s: %w", b.Header.Run, err)
		}
		then, err := ray.IdentityIn(obs)
		if err != nil {
			return nil, fmt.Errorf("compare the RayCluster with that of run %s: %w", b.Header.Run, err)
		}
		if then == "" {
			continue
		}
		c, err := x.opts.Cluster(ctx)
		if err != nil {
			return []string{err.Error()}, nil //nolint:nilerr // a RayCluster that cannot be read is a difference
		}
		now, err := ray.Identify(ctx, c, x.opts.Site.Ray)
		if err != nil {
			return []string{err.Error()}, nil //nolint:nilerr // a RayCluster that cannot be read is a difference
		}
		if now != then {
			return []string{fmt.Sprintf("RayCluster %s/%s: %s then, %s now", x.opts.Site.Ray.Namespace, x.opts.Site.Ray.Cluster, then, now)}, nil
		}
	}
	return nil, nil
}
