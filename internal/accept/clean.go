package accept

import (
	"context"
	"errors"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firstlight/firstlight/internal/gate/fabric"
	"github.com/firstlight/firstlight/internal/gate/facility"
	"github.com/firstlight/firstlight/internal/gate/node"
	"github.com/firstlight/firstlight/internal/probe/kube"
)

// cleanGate removes the Jobs of one gate of this run, by label. It does nothing if the run
// created nothing. Gates on Slurm cancel their jobs themselves; cancelOwn cancels those that remain.
func (x *execution) cleanGate(ctx context.Context, gate string) error {
	if x.opts.Slurm != nil && !slices.Contains([]string{facility.Name, fabric.Name, node.Name}, gate) {
		x.submitted.Store(true)
	}
	c := x.reached()
	if c == nil || !x.created.Load() || x.opts.Keep || x.lostTo() != nil || slices.Contains(x.opts.Holding, gate) {
		return nil //nolint:nilerr // the process that took over the run cleans up
	}
	background := metav1.DeletePropagationBackground
	selector := metav1.ListOptions{LabelSelector: kube.LabelRun + "=" + x.run.ID() + "," + kube.LabelGate + "=" + gate}
	for _, namespace := range c.NamespacesFor(x.run.ID(), gate) {
		err := c.Client.BatchV1().Jobs(namespace).DeleteCollection(ctx, metav1.DeleteOptions{PropagationPolicy: &background}, selector)
		if err != nil {
			return fmt.Errorf("remove the jobs of gate %s: %w", gate, err)
		}
	}
	return nil
}

// removeObjects removes the objects of a run: those of Cleanup, and the RayClusters that it created in the namespace of
// the site's.
func (x *execution) removeObjects(ctx context.Context, g kube.Guest, run string) error {
	err := x.withoutUnlisted(run, g.Cleanup(ctx, run))
	if x.opts.Site == nil || x.opts.Site.Ray == nil {
		return err
	}
	return errors.Join(err, x.withoutUnlisted(run, g.RemoveRayClusters(ctx, x.opts.Site.Ray.Namespace, run)))
}

// killedRuns are the IDs of the killed runs whose objects are removed.
func (x *execution) killedRuns() []string {
	var out []string
	for _, k := range x.killed {
		out = append(out, k.id)
	}
	return out
}
