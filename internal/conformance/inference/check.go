package inference

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
const Name = "ai_inference"

// timeout for each of pods with their image, the Gateway with the address of its load balancer
// (AWS: 2 to 5 minutes), and routes.
const timeout = 6 * time.Minute

// servers is the number of model servers, with a GPU each.
const servers = 2

// Check is the check.
type Check struct {
	deps    conformance.Deps
	figures figures
	// invalid is why figures.yaml could not be read.
	invalid error
	nodes   []string
	gpus    int
	// class of devices offers the GPUs; empty: the device plugin does.
	class string
	image string
	// gatewayClass is the one that the site names; empty: the only one that is accepted.
	gatewayClass string
}

// New returns the check for a site and the profile of its hardware.
func New(s *site.Site, p *profile.Profile, deps conformance.Deps) *Check {
	c := &Check{deps: deps.WithDefaults(timeout), nodes: conformance.NodeNames(s), gpus: int(p.Node.GPUs.Value), class: s.GPUStack.DeviceClass, image: s.Workloads.Inference.Image, gatewayClass: s.GatewayClass()}
	c.figures, c.invalid = readFigures(figuresFile)
	return c
}

// Name implements check.Check.
func (*Check) Name() string { return Name }

// Claims is how many GPUs of the inventory the check holds at most: one for each server; none
// where the inventory has fewer.
func (c *Check) Claims() int {
	if c.gpus*len(c.nodes) < servers {
		return 0
	}
	return servers
}

// Describe lists what the check does.
func (c *Check) Describe() []string {
	return []string{
		"read whether the Gateway API is served, and find the GatewayClass that its controller accepts; with several, the site's validation.gatewayClass",
		fmt.Sprintf("start %d servers of %s with a GPU each, or scripts without GPUs where none are free, and request the model of each directly", servers, c.figures.Model),
		fmt.Sprintf("create a Gateway: it must be Programmed with an address; create a route to both servers with the weights %v: it must be resolved", c.figures.Weights),
		fmt.Sprintf("send %d requests through it: they must be split by the weights; %d requests with the header %s must all go to the second", c.figures.Requests, c.figures.Repeats, c.figures.Header),
		"create a route to a Service that does not exist: it must not be resolved, and must return errors; a path without a route must return 404",
	}
}

// Observe implements check.Check. It removes what it created, except the run's PriorityClass.
func (c *Check) Observe(ctx context.Context, rec check.Recorder) error {
	if c.invalid != nil {
		return c.invalid
	}
	return c.deps.Observe(ctx, rec, Name, c.observe)
}
