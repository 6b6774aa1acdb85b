package servicemetrics

import (
	"context"
	"fmt"
	"time"

	"k8s.io/utils/clock"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/probe/kube"
	"github.com/firstlight/firstlight/internal/profile"
	"github.com/firstlight/firstlight/internal/site"
)

// Name is the requirement's.
const Name = "ai_service_metrics"

// The metric that is followed: how many requests vLLM works at. The adapter serves it
// under the name with underscores, or under its own where it renames nothing.
const (
	series     = "vllm:num_requests_running"
	metricName = "vllm_num_requests_running"
)

const (
	// awayFactor is how many times as long as the series took to come it has to stay
	// away without the mark: one slow discovery more, and a scrape.
	awayFactor = 3
	// leastLooks in a window for it to say anything.
	leastLooks = 3
	// requests are sent side by side: more than the one that idle noise could be.
	requests = 4
)

// Deps is what the check needs to observe; judging needs none of it.
type Deps struct {
	// Cluster gives the cluster, which may take until it is up.
	Cluster func(ctx context.Context) (*kube.Cluster, error)
	RunID   string
	// Disruptive is not asked for: the service is the check's own.
	Disruptive bool
	// Clock is the real one when nil.
	Clock clock.Clock
}

// Check is the check.
type Check struct {
	deps    Deps
	site    *site.Site
	profile *profile.Profile
	// window without the mark: as long as new targets may take to appear.
	window time.Duration
	// within is how long anything may take that is waited for.
	within time.Duration
	every  time.Duration
}

var _ check.Check = (*Check)(nil)

// New makes the check for a site and the profile of its hardware.
func New(s *site.Site, p *profile.Profile, deps Deps) *Check {
	c := &Check{deps: deps, site: s, profile: p, every: s.Telemetry.ScrapeInterval.D()}
	c.window = time.Duration(float64(c.every) * p.Telemetry.Settle.Value)
	c.within = max(c.window, time.Duration(p.Telemetry.RiseWithin.Value*float64(time.Second)))
	if c.deps.Clock == nil {
		c.deps.Clock = clock.RealClock{}
	}
	return c
}

// Name implements check.Check.
func (*Check) Name() string { return Name }

// Claims is how many GPUs the check holds while it observes.
func (c *Check) Claims() int { return c.site.Workloads.Inference.GPUs }

// Describe says what the check would do.
func (c *Check) Describe() []string {
	w := c.site.Workloads.Inference
	return []string{
		fmt.Sprintf("start one pod with %d GPUs that serves %s, without the mark that Prometheus scrapes by: nothing of it is read for %s", w.GPUs, w.Model, c.window),
		fmt.Sprintf("mark it: %s arrives in Prometheus with the pod's name, and custom.metrics.k8s.io serves it of that pod", series),
		fmt.Sprintf("send %d requests side by side: the value follows, up and down", requests),
		fmt.Sprintf("take the mark away: the series ends, and stays away %d times as long as it took to come", awayFactor),
		"remove everything that carries the run's label in gate " + Name,
	}
}
