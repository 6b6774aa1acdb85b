package access

import (
	"context"
	"errors"
	"fmt"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/conformance/calls"
	"github.com/firstlight/firstlight/internal/conformance/dra/offer"
	"github.com/firstlight/firstlight/internal/conformance/dra/record"
	"github.com/firstlight/firstlight/internal/conformance/dra/trial"
	"github.com/firstlight/firstlight/internal/probe/kube"
)

// Observe implements check.Check. What it created is gone when it returns, but for
// the run's PriorityClass.
func (c *Check) Observe(ctx context.Context, rec check.Recorder) error {
	if c.deps.Cluster == nil {
		return errors.New("observe accelerator access: no cluster is given")
	}
	rec.Progress("waiting for the cluster")
	given, err := c.deps.Cluster(ctx)
	if err != nil {
		return fmt.Errorf("reach the cluster: %w", err)
	}
	log := calls.NewLog(nil)
	cluster, err := kube.New(log.Record(given.Config))
	if err != nil {
		return fmt.Errorf("reach the cluster: %w", err)
	}
	err = c.observe(ctx, cluster, record.Notes{Recorder: rec, Clock: c.deps.Clock})
	return errors.Join(err, log.Keep(rec, "cluster"))
}

func (c *Check) observe(ctx context.Context, cluster *kube.Cluster, rec record.Notes) (err error) {
	rec.Progress("looking for a node with a free GPU")
	free, kept := c.findNode(ctx, cluster, rec)
	if kept != nil || ctx.Err() != nil {
		return errors.Join(kept, ctx.Err())
	}
	r, err := trial.Open(ctx, cluster, c.deps.RunID, "access", c.deps.Clock)
	if err != nil {
		return err //nolint:wrapcheck // says what it opens
	}
	defer func() { err = errors.Join(err, r.Close(ctx)) }()
	rec.Progress("pods that go around claims, in a dry run")
	for _, name := range []string{plain, hostPath, privileged} {
		if err := c.observeAdmission(ctx, r, rec, name); err != nil {
			return err
		}
	}
	if free.Node == "" {
		return nil
	}
	return c.observePods(ctx, r, rec, free.Node)
}

// findNode finds a node; its Node is empty when there is none, or it is not known.
func (c *Check) findNode(ctx context.Context, cluster *kube.Cluster, rec record.Notes) (room, error) {
	n := rec.Begin(kindSlices, "cluster", "GET resourceslices")
	all, err := offer.Slices(ctx, cluster)
	if kept := n.Keep(all, err); kept != nil || err != nil {
		return room{}, kept
	}
	n = rec.Begin(kindRoom, "cluster", "GET nodes, pods, resourceclaims: devices of the inventory's nodes less what claims and the device plugin's pods hold")
	rooms, err := offer.Rooms(ctx, cluster, c.nodes, all)
	free := room{Rooms: rooms}
	if nodes := offer.WithRoom(rooms, 1); len(nodes) == 1 {
		free.Node = nodes[0]
	}
	return free, n.Keep(free, err)
}
