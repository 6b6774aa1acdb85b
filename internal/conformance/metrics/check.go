package metrics

import (
	"context"
	"fmt"
	"time"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/conformance"
	"github.com/firstlight/firstlight/internal/profile"
	"github.com/firstlight/firstlight/internal/site"
)

// Name of the requirement.
const Name = "accelerator_metrics"

// Check is the check.
type Check struct {
	deps    conformance.Deps
	site    *site.Site
	profile *profile.Profile
	nodes   []string
	gpus    int
	// class of devices offers the GPUs; empty: the device plugin does.
	class   string
	metrics []metric
	// invalid is why metrics could not be read.
	invalid error
	// maxAge of a sample.
	maxAge time.Duration
}

// New returns the check for a site and the profile of its hardware.
func New(s *site.Site, p *profile.Profile, deps conformance.Deps) *Check {
	c := &Check{
		deps: deps.WithDefaults(0), site: s, profile: p, nodes: conformance.NodeNames(s), gpus: int(p.Node.GPUs.Value), class: s.GPUStack.DeviceClass,
		maxAge: time.Duration(float64(s.Telemetry.ScrapeInterval) * p.Telemetry.Freshness.Value),
	}
	c.metrics, c.invalid = figures(p)
	return c
}

// settle is the time that metrics need to follow a load.
func (c *Check) settle() time.Duration {
	return time.Duration(float64(c.site.Telemetry.ScrapeInterval) * c.profile.Telemetry.Settle.Value)
}

// Name implements check.Check.
func (*Check) Name() string { return Name }

// Claims is how many GPUs the check holds at most while it observes.
func (c *Check) Claims() int { return c.gpus * len(c.nodes) }

// Describe lists what the check does.
func (c *Check) Describe() []string {
	lines := make([]string, 0, len(c.metrics)+2)
	for _, m := range c.metrics {
		need := "reported only"
		if m.Required {
			need = fmt.Sprintf("required for each of %d GPUs on each of %d nodes", c.gpus, len(c.nodes))
		}
		lines = append(lines, fmt.Sprintf("query %s and its timestamps (%s): %s", m.Name, m.What, need))
	}
	return append(lines,
		"load the free GPUs with dcgmproftester, one half after the other: the metrics of loaded GPUs must rise, those of the others must not",
		"stop the load: all must fall again; remove everything with the run's label in gate "+Name)
}

// Observe implements check.Check.
func (c *Check) Observe(ctx context.Context, rec check.Recorder) error {
	if c.invalid != nil {
		return c.invalid
	}
	return c.deps.Observe(ctx, rec, Name, c.observe)
}
