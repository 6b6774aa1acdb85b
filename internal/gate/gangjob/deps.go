package gangjob

import (
	"context"
	"fmt"
	"time"

	"k8s.io/utils/clock"

	"github.com/firstlight/firstlight/internal/probe/kube"
	"github.com/firstlight/firstlight/internal/site"
	"github.com/firstlight/firstlight/internal/workload"
)

// Deps is what a gate needs to observe; it may be zero where a gate only judges.
type Deps struct {
	// Cluster opens the cluster, which may come to be only when it is needed.
	Cluster func(context.Context) (*kube.Cluster, error)
	// RunID labels everything that is created.
	RunID string
	// DeviceClass claims GPUs through dynamic resource allocation; empty: the device
	// plugin's resource is asked for.
	DeviceClass string
	// Hold leaves what serves running, and its GPUs claimed, for whoever cleans up after
	// the run.
	Hold bool
	// Clock is the real one when nil.
	Clock clock.PassiveClock
}

// Now is the time by d's clock.
func (d Deps) Now() time.Time {
	if d.Clock != nil {
		return d.Clock.Now()
	}
	return time.Now()
}

// Open opens the cluster.
func (d Deps) Open(ctx context.Context) (*kube.Cluster, error) {
	if d.Cluster == nil {
		return nil, fmt.Errorf("no cluster was given")
	}
	return d.Cluster(ctx) //nolint:wrapcheck // the cluster's own words
}

// Launcher makes a launcher with the cluster's gang scheduler.
func (d Deps) Launcher(ctx context.Context, s *site.Site) (*workload.Launcher, error) {
	cluster, err := d.Open(ctx)
	if err != nil {
		return nil, fmt.Errorf("open the cluster: %w", err)
	}
	gang, err := workload.Select(ctx, cluster, s.GPUStack.GangScheduler, s.GPUStack.Queue)
	if err != nil {
		return nil, fmt.Errorf("choose the gang scheduler: %w", err)
	}
	return &workload.Launcher{Cluster: cluster, RunID: d.RunID, Gang: gang, DeviceClass: d.DeviceClass}, nil
}
