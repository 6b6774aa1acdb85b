package controller

import (
	"context"
	"fmt"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/conformance"
	"github.com/firstlight/firstlight/internal/probe/kube"
	"github.com/firstlight/firstlight/internal/profile"
	"github.com/firstlight/firstlight/internal/site"
)

// Name of the requirement.
const Name = "robust_controller"

// Check is the check.
type Check struct {
	deps  conformance.Deps
	nodes []string
	image string
	// class of devices offers the GPUs; empty: the device plugin does.
	class     string
	operators []Operator
	// invalid is why operators could not be read.
	invalid error
}

// New returns the check for a site. Deps.Timeout limits the time of one resource, from its
// creation to its end; 0 is the operator's deadline.
func New(s *site.Site, _ *profile.Profile, deps conformance.Deps) *Check {
	c := &Check{deps: deps.WithDefaults(0), nodes: conformance.NodeNames(s), image: s.Telemetry.LoadImage, class: s.GPUStack.DeviceClass}
	c.operators, c.invalid = Operators()
	return c
}

// Name implements check.Check.
func (*Check) Name() string { return Name }

// Claims is how many GPUs of the inventory the check holds at a time.
func (*Check) Claims() int { return 1 }

// Describe lists what the check does.
func (c *Check) Describe() []string {
	out := []string{
		fmt.Sprintf("find a complex AI operator: %v", definitionsOf(c.operators)),
		"read its definitions, its webhook, and the controller that serves it",
		"create a resource of it, whose pod holds one GPU for seconds, and watch its children until it ends",
		"create a resource that only its webhook can deny, and one that the schema must deny",
	}
	if c.deps.Disruptive {
		return append(out, "kill its controller while a resource is being reconciled, and watch that resource until it ends")
	}
	return append(out, "(its controller is not killed: that needs --disruptive)")
}

// Observe implements check.Check. It removes what it created.
func (c *Check) Observe(ctx context.Context, rec check.Recorder) error {
	if c.invalid != nil {
		return c.invalid
	}
	return c.deps.Observe(ctx, rec, Name, func(ctx context.Context, cluster *kube.Cluster, rec check.Observer) error {
		return (&observation{Check: c, cluster: cluster, rec: rec}).observe(ctx)
	})
}
