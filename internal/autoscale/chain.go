// Package autoscale proves the autoscaling chain, hop by hop: GPU load, DCGM
// metric, Prometheus, prometheus-adapter, HPA, pending pods, new nodes, pods
// bound to them, and all of it back again.
package autoscale

import (
	"context"
	"time"

	"github.com/firstlight/firstlight/internal/autoscale/snapshot"
	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/probe/kube"
	"github.com/firstlight/firstlight/internal/profile"
	"github.com/firstlight/firstlight/internal/site"
)

// Name of the check.
const Name = "autoscale"

// Options of a chain; the zero value means the defaults.
type Options struct {
	// Metric is external (default) or custom.
	Metric string
	// Pool is an existing NodePool to use; empty: one of our own.
	Pool string
	// Scheduler is default or kai.
	Scheduler string
	// Stay keeps the replicas on existing GPU nodes: the test covers the path from the
	// metric to the pods, without pools and new nodes.
	Stay bool
	// Keep retains the run's objects for inspection.
	Keep bool
	// HopTimeout is added to three times the budget of a hop (default 2 minutes): a loaded
	// control plane takes twenty times as long as an idle one.
	HopTimeout time.Duration
	// Events receives the progress of hops; may be nil. Observe calls it sequentially; it must
	// not block.
	Events func(HopEvent)
}

// HopEvent is the progress of a hop: pending for Reason with an empty Verdict, else ended.
type HopEvent struct {
	Phase   string
	Hop     string
	Verdict check.Verdict
	Reason  string
	// Object it happened to, once it has.
	Object snapshot.Ref
	// Took is from the previous hop's event, once it has happened.
	Took time.Duration
}

// Deps of Observe; zero for a chain that only judges or describes.
type Deps struct {
	Cluster func(ctx context.Context) (*kube.Cluster, error)
	RunID   string
}

// Chain is the check.
type Chain struct {
	site    *site.Site
	profile *profile.Profile
	opts    Options
	deps    Deps
}

// New makes the chain of a site.
func New(s *site.Site, p *profile.Profile, o Options, d Deps) *Chain {
	return &Chain{site: s, profile: p, opts: o, deps: d}
}

// tell sends e to Options.Events.
func (c *Chain) tell(e HopEvent) {
	if c.opts.Events != nil {
		c.opts.Events(e)
	}
}

// Name is "autoscale".
func (c *Chain) Name() string { return Name }

// Lowered implements plan.Lowers.
func (c *Chain) Lowered() []string {
	s := *c.site
	if c.opts.Stay { // without a gang in any case
		s.Autoscale.Gang = site.DefaultGang
	}
	return s.LoweredAutoscale()
}

// Images are the images of the chain's pods.
func (c *Chain) Images() []string {
	return []string{c.site.Telemetry.LoadImage, c.site.Autoscale.WorkerImage}
}
