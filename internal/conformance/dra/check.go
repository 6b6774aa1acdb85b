package dra

import (
	"context"
	"fmt"
	"time"

	"k8s.io/utils/clock"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/conformance/dra/offer"
	"github.com/firstlight/firstlight/internal/probe/kube"
	"github.com/firstlight/firstlight/internal/profile"
	"github.com/firstlight/firstlight/internal/site"
)

// Name is the requirement's.
const Name = "dra_support"

// patience is how long a pod may take to be placed and to run, its image's
// pull included: what other tools of the kind give it (aicr: 5 minutes).
const patience = 5 * time.Minute

// Deps is what the check needs to observe; judging needs none of it.
type Deps struct {
	// Cluster gives the cluster, which may take until it is up.
	Cluster func(ctx context.Context) (*kube.Cluster, error)
	RunID   string
	// Patience is how long a pod may take to run; 0: five minutes.
	Patience time.Duration
	// Clock is the real one when nil.
	Clock clock.PassiveClock
}

// Check is the check.
type Check struct {
	deps   Deps
	nodes  []string
	gpus   int
	source string
	image  string
}

var _ check.Check = (*Check)(nil)

// New makes the check for a site and the profile of its hardware.
func New(s *site.Site, p *profile.Profile, deps Deps) *Check {
	c := &Check{
		deps: deps, gpus: int(p.Node.GPUs.Value), source: "profile " + p.Name + " node.gpus: " + p.Node.GPUs.Source,
		image: s.Telemetry.LoadImage, // the pods only sleep: any image with a shell will do
	}
	for _, n := range s.Inventory.Nodes {
		c.nodes = append(c.nodes, n.Name)
	}
	if c.deps.Patience == 0 {
		c.deps.Patience = patience
	}
	if c.deps.Clock == nil {
		c.deps.Clock = clock.RealClock{}
	}
	return c
}

// Name implements check.Check.
func (*Check) Name() string { return Name }

// Claims is how many GPUs the check holds while it observes.
func (*Check) Claims() int { return 1 }

// Describe says what the check would do.
func (c *Check) Describe() []string {
	return []string{
		"see that resource.k8s.io/v1 is served, and DeviceClass " + offer.Driver,
		fmt.Sprintf("see %d GPUs in the ResourceSlices of driver %s on each of %d nodes", c.gpus, offer.Driver, len(c.nodes)),
		"create a claim of one GPU with a pod, and see it allocated, reserved for the pod, and the pod run",
		"create a claim that no device meets with a pod, and see that it is not allocated, and the scheduler refuse the pod",
	}
}
