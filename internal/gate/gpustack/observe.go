package gpustack

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/firstlight/firstlight/internal/check"
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
	for _, observe := range []func() error{
		func() error { return g.observeOperator(ctx, cluster, rec) },
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
