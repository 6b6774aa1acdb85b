package sharing

import (
	"context"
	"fmt"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/conformance/standing"
	"github.com/firstlight/firstlight/internal/profile"
	"github.com/firstlight/firstlight/internal/site"
)

// Name is the requirement's.
const Name = "gpu_sharing"

// Check is the check.
type Check struct {
	deps  standing.Deps
	nodes []string
	image string
}

var _ check.Check = (*Check)(nil)

// New makes the check for a site.
func New(s *site.Site, _ *profile.Profile, deps standing.Deps) *Check {
	c := &Check{deps: deps.WithDefaults(), image: s.Telemetry.LoadImage} // the pods only sleep
	for _, n := range s.Inventory.Nodes {
		c.nodes = append(c.nodes, n.Name)
	}
	return c
}

// Name implements check.Check.
func (*Check) Name() string { return Name }

// Claims is how many GPUs the check holds while it observes: the shared one. The third
// pod waits where there is no other.
func (*Check) Claims() int { return 1 }

// Describe says what the check would do.
func (c *Check) Describe() []string {
	return []string{
		fmt.Sprintf("see which parts of GPUs %d nodes offer: MIG slices, replicas, devices that may be allocated more than once", len(c.nodes)),
		"create a claim of one GPU and two pods that share it, and see both run; and one with a claim of its own, which must not have that GPU",
		"where parts are offered, create two pods with one each, and see both run",
	}
}

// Observe implements check.Check. What it created is gone when it returns, but for the
// run's PriorityClass.
func (c *Check) Observe(ctx context.Context, rec check.Recorder) error {
	return c.deps.Observe(ctx, rec, Name, c.look) //nolint:wrapcheck // says of what
}
