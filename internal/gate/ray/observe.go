package ray

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/probe/kube"
	probe "github.com/firstlight/firstlight/internal/probe/ray"
)

// Observe implements check.Check. The placement groups are created if nothing that was observed before stops it.
func (g *Gate) Observe(ctx context.Context, rec check.Recorder) error {
	if g.deps.Cluster == nil {
		return errors.New("observe Ray: Deps.Cluster must be set")
	}
	rec.Progress("waiting for the cluster")
	cluster, err := g.deps.Cluster(ctx)
	if err != nil {
		return fmt.Errorf("reach the cluster: %w", err)
	}
	kept := &check.Kept{Recorder: rec}
	rec.Progress("reading the RayCluster and its pods")
	if err := g.observeCluster(ctx, cluster, kept); err != nil {
		return err
	}
	pods, err := g.observePods(ctx, cluster, kept, kindPods)
	if err != nil {
		return err
	}
	rec.Progress("KubeRay reconciles a suspended RayCluster")
	if err := g.observeOperator(ctx, cluster, kept); err != nil {
		return err
	}
	head := headOf(live(pods))
	if head == nil || !head.Ready {
		return nil
	}
	address, stop, err := cluster.Forward(ctx, g.site.Ray.Namespace, head.Name, probe.Port)
	if err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return g.begin(rec, kindVersion, head.Name, "GET "+probe.VersionPath).Record(nil, err)
	}
	defer stop()
	return g.observeHead(ctx, cluster, &probe.Client{Address: address, HTTP: g.deps.HTTP}, head.Name, kept)
}

// observeHead reads the API of the head, and creates the placement groups if nothing has failed.
func (g *Gate) observeHead(ctx context.Context, cluster *kube.Cluster, client *probe.Client, head string, rec *check.Kept) error {
	rec.Progress("reading Ray's nodes")
	if err := read(ctx, g, client, rec, kindVersion, head, probe.VersionPath, func(raw []byte) (versionFigures, error) {
		v, err := probe.ParseVersion(raw)
		return versionFigures{v}, err
	}); err != nil {
		return err
	}
	if err := read(ctx, g, client, rec, kindNodes, head, probe.NodesPath, probe.ParseNodes); err != nil {
		return err
	}
	if err := g.endLeft(ctx, client, head, rec); err != nil {
		return err
	}
	if err := g.observeUsage(ctx, client, head, rec); err != nil {
		return err
	}
	var b check.Builder
	if g.judgeState(&b, rec.Observations); !b.Clean() {
		return nil
	}
	rec.Progress("placement group of %d bundles with %d GPUs each: all must be placed", len(g.nodes), g.gpus)
	held, err := g.probeGroup(ctx, client, rec, targetFits, len(g.nodes))
	if err != nil || !held {
		return err
	}
	rec.Progress("placement group of %d bundles on %d nodes: none may be placed", len(g.nodes)+1, len(g.nodes))
	if _, err := g.probeGroup(ctx, client, rec, targetTooLarge, len(g.nodes)+1); err != nil {
		return err
	}
	if _, err := g.observePods(ctx, cluster, rec, kindAfter); err != nil {
		return err
	}
	return read(ctx, g, client, rec, kindRaylets, head, probe.NodesPath, probe.ParseNodes)
}

// read records the figures of a reply of the head.
func read[T any](ctx context.Context, g *Gate, client *probe.Client, rec check.Recorder, kind, head, path string, parse func([]byte) (T, error)) error {
	attempt := g.begin(rec, kind, head, "GET "+path)
	raw, err := client.Do(ctx, http.MethodGet, path, nil)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		return attempt.Raw(raw).Record(nil, err)
	}
	figures, err := parse(raw)
	if err != nil {
		return attempt.Raw(raw).Record(nil, err)
	}
	return attempt.Raw(raw).Record(figures, nil)
}
