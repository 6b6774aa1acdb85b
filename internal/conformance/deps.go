package conformance

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/utils/clock"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/conformance/apilog"
	"github.com/firstlight/firstlight/internal/probe/kube"
	"github.com/firstlight/firstlight/internal/site"
)

// Deps is what a check needs to observe. Judging needs none of it.
type Deps struct {
	// Cluster returns the cluster; it may block until the cluster is up.
	Cluster func(ctx context.Context) (*kube.Cluster, error)
	// RunID labels everything that a check creates.
	RunID string
	// Timeout limits the wait for a pod, a Gateway or a hop; 0 is the check's default.
	Timeout time.Duration
	// PodPatches are the tolerations of the site's patches of the pods of all gates (workloads.pod).
	PodPatches []map[string]any
	// Disruptive allows what disturbs a cluster in use.
	Disruptive bool
	// KillOutside kills the controller of an operator (its name, as in operators/*.yaml) that
	// does not run as a pod of the cluster, and returns what it killed. Nil where there is no
	// way to do so.
	KillOutside func(ctx context.Context, operator string) (killed string, err error)
	// Clock is the real one when nil.
	Clock clock.Clock
}

// WithDefaults sets Timeout and Clock where they are unset.
func (d Deps) WithDefaults(timeout time.Duration) Deps {
	d.Timeout = cmp.Or(d.Timeout, timeout)
	d.Clock = cmp.Or[clock.Clock](d.Clock, clock.RealClock{})
	return d
}

// Observe calls observe and then records every API call that it made as one observation.
// name is the check's, for errors.
func (d Deps) Observe(ctx context.Context, rec check.Recorder, name string, observe func(context.Context, *kube.Cluster, check.Observer) error) error {
	if d.Cluster == nil {
		return fmt.Errorf("observe %s: no cluster given", name)
	}
	rec.Progress("waiting for the cluster")
	given, err := d.Cluster(ctx)
	if err != nil {
		return fmt.Errorf("observe %s: connect to the cluster: %w", name, err)
	}
	log := apilog.New(d.Clock)
	cluster, err := given.With(log.Wrap(given.Config))
	if err != nil {
		return fmt.Errorf("observe %s: connect to the cluster: %w", name, err)
	}
	err = observe(ctx, cluster, check.Observer{Recorder: rec, Clock: d.Clock})
	return errors.Join(err, log.Record(rec, "cluster"))
}

// NodeNames lists the nodes of the site's inventory in its order.
func NodeNames(s *site.Site) []string {
	out := make([]string, 0, len(s.Inventory.Nodes))
	for _, n := range s.Inventory.Nodes {
		out = append(out, n.Name)
	}
	return out
}
