package gpustack

import (
	"context"
	"errors"
	"fmt"

	"github.com/firstlight/firstlight/internal/check"
)

// Observe implements check.Check.
func (g *Gate) Observe(ctx context.Context, rec check.Recorder) error {
	if g.deps.Cluster == nil {
		return errors.New("observe the GPU stack: no cluster is given")
	}
	rec.Progress("waiting for the cluster")
	cluster, err := g.deps.Cluster(ctx)
	if err != nil {
		return fmt.Errorf("reach the cluster: %w", err)
	}
	rec.Progress("reading ClusterPolicy, nodes and operands")
	for _, observe := range []func() error{
		func() error { return g.observePolicy(ctx, cluster, rec) },
		func() error { return g.observeNodes(ctx, cluster, rec) },
		func() error { return g.observeOperands(ctx, cluster, rec) },
		func() error { return g.observeGang(ctx, cluster, rec) },
	} {
		if err := observe(); err != nil {
			return err
		}
	}
	return nil
}
