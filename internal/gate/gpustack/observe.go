package gpustack

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"golang.org/x/sync/errgroup"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/probe/kube"
)

// Observe implements check.Check.
func (g *Gate) Observe(ctx context.Context, rec check.Recorder) error {
	if g.deps.Cluster == nil {
		return errors.New("observe the GPU stack: Deps.Cluster must be set")
	}
	rec.Progress("waiting for the cluster")
	cluster, err := g.deps.Cluster(ctx)
	if err != nil {
		return fmt.Errorf("reach the cluster: %w", err)
	}
	rec.Progress("reading operator, ClusterPolicy, nodes and operands")
	all, ctx := errgroup.WithContext(ctx)
	for _, observe := range []func(context.Context, *kube.Cluster, check.Recorder) error{
		g.observeOperator, g.observePolicy, g.observeNodes, g.observeSlices, g.observeClass, g.observeOperands, g.observePlugins, g.observeDriverPods, g.observeGang,
	} {
		all.Go(func() error { return observe(ctx, cluster, rec) })
	}
	return all.Wait()
}

func (g *Gate) begin(rec check.Recorder, kind, target, command string) check.Attempt {
	return check.Observer{Recorder: rec, Clock: g.deps.Clock}.Begin(kind, target, command)
}

// rawJSON is an API object as raw output. It returns nil if v cannot be encoded: the figures
// then remain without raw output.
func rawJSON(v any) []byte {
	data, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		return nil
	}
	return data
}
