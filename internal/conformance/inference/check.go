package inference

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
const Name = "ai_inference"

// patience is how long each thing that others make may take: a pod with its image, a
// load balancer with its address (AWS: 2 to 5 minutes).
const patience = 6 * time.Minute

// servers is how many model servers there are, with a GPU each.
const servers = 2

// Deps is what the check needs to observe; judging needs none of it.
type Deps struct {
	// Cluster gives the cluster, which may take until it is up.
	Cluster func(ctx context.Context) (*kube.Cluster, error)
	RunID   string
	// Patience is how long each of pods, Gateway and routes may take; 0: six minutes.
	Patience time.Duration
	// Clock is the real one when nil.
	Clock clock.PassiveClock
}

// Check is the check.
type Check struct {
	deps    Deps
	figures figures
	// unreadable is why there are no figures; a test holds that it is nil.
	unreadable error
	nodes      []string
	gpus       int
	image      string
}

var _ check.Check = (*Check)(nil)

// New makes the check for a site and the profile of its hardware.
func New(s *site.Site, p *profile.Profile, deps Deps) *Check {
	c := &Check{deps: deps, gpus: int(p.Node.GPUs.Value), image: s.Workloads.Inference.Image}
	c.figures, c.unreadable = readFigures(figuresFile)
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

// Claims is how many GPUs of the inventory the check holds at most: one for each of
// its servers; none where there are fewer.
func (c *Check) Claims() int {
	if c.gpus*len(c.nodes) < servers {
		return 0
	}
	return servers
}

// Describe says what the check would do.
func (c *Check) Describe() []string {
	return []string{
		"see that the Gateway API is served, and a GatewayClass Accepted by its controller",
		fmt.Sprintf("start %d servers of %s with a GPU each, or scripts in their place where no GPUs are free, and ask each directly who it is", servers, c.figures.Model),
		fmt.Sprintf("create a Gateway, which must be Programmed with an address, and a route to both with the weights %v, which must be resolved", c.figures.Weights),
		fmt.Sprintf("send %d requests through it: the split must be the weights'; %d with the header %s must all go to the second", c.figures.Requests, c.figures.Repeats, c.figures.Header),
		"create a route to a Service that does not exist: it must not be resolved and must answer errors; a path without a route must answer 404",
	}
}
