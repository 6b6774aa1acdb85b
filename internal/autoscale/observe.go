package autoscale

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"context"
	"errors"
	"fmt"

	"github.com/firstlight/firstlight/internal/autoscale/snapshot"
	"github.com/firstlight/firstlight/internal/check"
)

// Observe implements check.Check: it runs the phases in order. A hop that
// does not pass ends the chain; then only the cleanup remains. A cancelled context ends the
// chain at once, and the caller runs the cleanup.
func (c *Chain) Observe(ctx context.Context, rec check.Recorder) error {
	if c.deps.Cluster == nil {
		return errors.New("observe the chain: no cluster is given")
	}
	rec.Progress("waiting for the cluster")
	cluster, err := c.deps.Cluster(ctx)
	if err != nil {
		return fmt.Errorf("reach the cluster: %w", err)
	}
	d, err := c.begin(ctx, cluster, rec)
	if err != nil {
		return err
	}
	defer d.stop()
	if err := d.recordSetup(); err != nil {
		return err
	}
	for _, phase := range []struct {
		name string
		run  func(context.Context) (bool, error)
	}{
		{snapshot.PhaseBefore, d.before}, {snapshot.PhaseControl, d.control}, {snapshot.PhaseUp, d.up},
		{snapshot.PhaseDown, d.down}, {snapshot.PhaseGang, d.gang},
	} {
		d.phase = phase.name
		passed, err := phase.run(ctx)
		if err != nil {
			return err
		}
		if !passed {
			break
		}
	}
	d.phase = snapshot.PhaseClean
	return d.clean(ctx)
}

// recordSetup stores what the chain is about to do, before it does anything.
func (d *drive) recordSetup() error {
	o, err := check.Observation{
		Kind: snapshot.KindSetup, Target: d.setup.Namespace, At: d.setup.Began, Took: metav1.Duration{Duration: d.now().Sub(d.setup.Began)},
		Command: "GET nodes, APIServices, Deployments, settings of Prometheus, adapter, autoscaler and kube-controller-manager",
	}.WithFigures(d.setup)
	if err != nil {
		return fmt.Errorf("record the setup: %w", err)
	}
	if _, err := d.rec.Record(o); err != nil {
		return fmt.Errorf("record the setup: %w", err)
	}
	return nil
}
