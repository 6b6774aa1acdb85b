package metrics

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
const Name = "accelerator_metrics"

// Deps is what the check needs to observe; judging needs none of it.
type Deps struct {
	// Cluster gives the cluster, which may take until it is up.
	Cluster func(ctx context.Context) (*kube.Cluster, error)
	RunID   string
	// Disruptive is not asked for: the load takes free GPUs only.
	Disruptive bool
	// Clock is the real one when nil.
	Clock clock.Clock
}

// Check is the check.
type Check struct {
	deps    Deps
	site    *site.Site
	profile *profile.Profile
	nodes   []string
	gpus    int
	metrics []metric
	// invalid says why nothing can be held against these.
	invalid error
	// maxAge of a sample.
	maxAge time.Duration
}

var _ check.Check = (*Check)(nil)

// New makes the check for a site and the profile of its hardware.
func New(s *site.Site, p *profile.Profile, deps Deps) *Check {
	c := &Check{deps: deps, site: s, profile: p, gpus: int(p.Node.GPUs.Value)}
	c.metrics, c.invalid = figures(p)
	c.maxAge = time.Duration(float64(s.Telemetry.ScrapeInterval) * p.Telemetry.Freshness.Value)
	for _, n := range s.Inventory.Nodes {
		c.nodes = append(c.nodes, n.Name)
	}
	if c.deps.Clock == nil {
		c.deps.Clock = clock.RealClock{}
	}
	return c
}

// Name implements check.Check.
func (*Check) Name() string { return Name }

// Claims is how many GPUs the check holds at most while it observes.
func (c *Check) Claims() int { return c.gpus * len(c.nodes) }

// Describe says what the check would do.
func (c *Check) Describe() []string {
	lines := make([]string, 0, len(c.metrics)+2)
	for _, m := range c.metrics {
		need := "report"
		if m.Required {
			need = fmt.Sprintf("need of each of %d GPUs on each of %d nodes", c.gpus, len(c.nodes))
		}
		lines = append(lines, fmt.Sprintf("query %s and its timestamps (%s): %s", m.Name, m.What, need))
	}
	return append(lines,
		"load the free GPUs with dcgmproftester, one half after the other: those of the load rise, the others do not",
		"end the load: all fall again; remove everything that carries the run's label in gate "+Name)
}
