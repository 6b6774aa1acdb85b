package access

import (
	"context"
	"time"

	"k8s.io/utils/clock"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/conformance/dra/offer"
	"github.com/firstlight/firstlight/internal/probe/kube"
	"github.com/firstlight/firstlight/internal/profile"
	"github.com/firstlight/firstlight/internal/site"
)

// Name is the requirement's.
const Name = "secure_accelerator_access"

// patience is how long a pod may take to be placed, to run and to say what it
// sees, its image's pull included: what other tools of the kind give it (aicr: 5
// minutes a pod).
const patience = 5 * time.Minute

// Deps is what the check needs to observe; judging needs none of it.
type Deps struct {
	// Cluster gives the cluster, which may take until it is up.
	Cluster func(ctx context.Context) (*kube.Cluster, error)
	RunID   string
	// Patience is how long a pod may take to say what it sees; 0: five minutes.
	Patience time.Duration
	// Clock is the real one when nil.
	Clock clock.PassiveClock
}

// Check is the check.
type Check struct {
	deps  Deps
	nodes []string
	image string
}

var _ check.Check = (*Check)(nil)

// New makes the check for a site; of the profile it needs nothing.
func New(s *site.Site, _ *profile.Profile, deps Deps) *Check {
	c := &Check{deps: deps, image: s.Telemetry.LoadImage} // any image with a shell: nvidia-smi comes with the device
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
func (*Check) Describe() []string {
	return []string{
		"find a node with a GPU that a claim can have through " + offer.Driver,
		"run a pod there with a claim: the container that names it sees that GPU and no other, the one beside it none",
		"run a pod without a claim beside it, and one that sets NVIDIA_VISIBLE_DEVICES=all: both see none while the first runs",
		"ask the API server (dry run) for a pod with the host path /dev, and for a privileged one, where pod security is enforced: both are refused, a plain one is not",
	}
}
