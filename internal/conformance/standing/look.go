package standing

import (
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/utils/clock"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/conformance/calls"
	"github.com/firstlight/firstlight/internal/conformance/dra/record"
	"github.com/firstlight/firstlight/internal/probe/kube"
)

// patience is how long a pod may take to be placed and to run: less than where something
// is demanded, whose checks came before and have pulled the image.
const patience = 2 * time.Minute

// Deps is what such a check needs to observe; judging needs none of it.
type Deps struct {
	// Cluster gives the cluster, which may take until it is up.
	Cluster func(ctx context.Context) (*kube.Cluster, error)
	RunID   string
	// Patience is how long a pod may take to run; 0: two minutes.
	Patience time.Duration
	// Clock is the real one when nil.
	Clock clock.PassiveClock
}

// WithDefaults fills in what was left out.
func (d Deps) WithDefaults() Deps {
	if d.Patience == 0 {
		d.Patience = patience
	}
	if d.Clock == nil {
		d.Clock = clock.RealClock{}
	}
	return d
}

// Observe has look look at the cluster, and keeps every call to the API server that it
// made. name is the check's, for messages.
func (d Deps) Observe(ctx context.Context, rec check.Recorder, name string, look func(context.Context, *kube.Cluster, record.Notes) error) error {
	if d.Cluster == nil {
		return fmt.Errorf("observe %s: no cluster is given", name)
	}
	given, err := d.Cluster(ctx)
	if err != nil {
		return fmt.Errorf("observe %s: reach the cluster: %w", name, err)
	}
	log := calls.NewLog(d.Clock)
	cluster, err := kube.New(log.Record(given.Config))
	if err != nil {
		return fmt.Errorf("observe %s: reach the cluster: %w", name, err)
	}
	err = look(ctx, cluster, record.Notes{Recorder: rec, Clock: d.Clock})
	return errors.Join(err, log.Keep(rec, "cluster"))
}
