package gangjob

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"k8s.io/utils/clock"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/conformance/dra/inventory"
	"github.com/firstlight/firstlight/internal/probe/kube"
	"github.com/firstlight/firstlight/internal/site"
	"github.com/firstlight/firstlight/internal/workload"
)

// Deps are the dependencies of Observe. They are zero for a gate that only judges.
type Deps struct {
	// Cluster connects to the cluster; it may wait until the cluster is up.
	Cluster func(context.Context) (*kube.Cluster, error)
	// RunID is the value of the run label of every created object.
	RunID string
	// PreferClaims requests GPUs by claims where the DRA driver offers those of the inventory, and
	// through the device plugin without such a driver. It is for sites that declare no DeviceClass.
	PreferClaims bool
	// Cordoned: pods also run on cordoned nodes.
	Cordoned bool
	// Hold leaves the server running, with its GPUs claimed, until the cleanup of the run.
	Hold bool
	// Clock defaults to the real clock.
	Clock clock.PassiveClock
}

// Observer records observations with the time of d's clock.
func (d Deps) Observer(rec check.Recorder) check.Observer {
	return check.Observer{Recorder: rec, Clock: cmp.Or[clock.PassiveClock](d.Clock, clock.RealClock{})}
}

// Open connects to the cluster.
func (d Deps) Open(ctx context.Context) (*kube.Cluster, error) {
	if d.Cluster == nil {
		return nil, errors.New("Deps.Cluster must be set")
	}
	return d.Cluster(ctx)
}

// Launcher returns a launcher that uses the cluster's gang scheduler.
func (d Deps) Launcher(ctx context.Context, s *site.Site) (*workload.Launcher, error) {
	cluster, err := d.Open(ctx)
	if err != nil {
		return nil, fmt.Errorf("open the cluster: %w", err)
	}
	gang, err := workload.Select(ctx, cluster, s.GPUStack.GangScheduler, s.GPUStack.Queue)
	if err != nil {
		return nil, fmt.Errorf("choose the gang scheduler: %w", err)
	}
	kind, err := workload.SelectKind(ctx, cluster, gang, s.GPUStack.JobKind, s.GPUStack.Queue)
	if err != nil {
		return nil, fmt.Errorf("choose the kind of the gang's job: %w", err)
	}
	class, err := d.class(ctx, cluster, s)
	if err != nil {
		return nil, fmt.Errorf("find out how GPUs are offered: %w", err)
	}
	return &workload.Launcher{Cluster: cluster, RunID: d.RunID, Gang: gang, Kind: kind, DeviceClass: class, Cordoned: d.Cordoned}, nil
}

// class is the DeviceClass of the pods' claims; empty: they request the device plugin's resource.
func (d Deps) class(ctx context.Context, cluster *kube.Cluster, s *site.Site) (string, error) {
	if d.PreferClaims && s.GPUStack.DeviceClass == "" {
		return inventory.Offered(ctx, cluster, nodeNames(s))
	}
	return inventory.Class(ctx, cluster, s.GPUStack, nodeNames(s))
}

func nodeNames(s *site.Site) []string {
	out := make([]string, 0, len(s.Inventory.Nodes))
	for _, n := range s.Inventory.Nodes {
		out = append(out, n.Name)
	}
	return out
}
