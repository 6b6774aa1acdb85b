package servicemetrics

import (
	"fmt"
	"time"

	"github.com/firstlight/firstlight/internal/conformance"
	"github.com/firstlight/firstlight/internal/profile"
	"github.com/firstlight/firstlight/internal/site"
)

// Name of the requirement.
const Name = "ai_service_metrics"

// The metric under test: the number of requests that vLLM processes. The adapter serves it
// with underscores, or by its own name where it renames nothing.
const (
	series     = "vllm:num_requests_running"
	metricName = "vllm_num_requests_running"
)

const (
	// absenceFactor times the time of discovery is how long the series must stay absent
	// without the mark: enough for another slow discovery and a scrape.
	absenceFactor = 3
	// minQueries in a window for it to prove anything.
	minQueries = 3
	// concurrency of the requests: more than the single request that idle noise could be.
	concurrency = 4
)

// Check is the check.
type Check struct {
	deps conformance.Deps
	site *site.Site
	// window without the mark: how long new targets may take to appear.
	window time.Duration
	// timeout of every wait.
	timeout  time.Duration
	interval time.Duration
}

// New returns the check for a site and the profile of its hardware.
func New(s *site.Site, p *profile.Profile, deps conformance.Deps) *Check {
	c := &Check{deps: deps.WithDefaults(0), site: s, interval: s.Telemetry.ScrapeInterval.D()}
	c.window = time.Duration(float64(c.interval) * p.Telemetry.Settle.Value)
	c.timeout = max(c.window, time.Duration(p.Telemetry.RiseWithin.Value*float64(time.Second)))
	return c
}

// Name implements check.Check.
func (*Check) Name() string { return Name }

// Claims is how many GPUs the check holds while it observes.
func (c *Check) Claims() int { return c.site.Workloads.Inference.GPUs }

// Describe lists what the check does.
func (c *Check) Describe() []string {
	w := c.site.Workloads.Inference
	return []string{
		fmt.Sprintf("start one pod with %d GPUs that serves %s, without the annotation or label by which Prometheus discovers pods: Prometheus must have no series of it for %s", w.GPUs, w.Model, c.window),
		fmt.Sprintf("add the mark: Prometheus must have %s with the pod's name, and custom.metrics.k8s.io must serve it for that pod", series),
		fmt.Sprintf("send %d concurrent requests: the value must follow, up and down", concurrency),
		fmt.Sprintf("remove the mark: the series must end, and stay absent %d times as long as its discovery took", absenceFactor),
		"remove everything with the run's label in gate " + Name,
	}
}
