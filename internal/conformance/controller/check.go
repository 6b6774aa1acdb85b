package controller

import (
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/utils/clock"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/conformance/calls"
	"github.com/firstlight/firstlight/internal/probe/kube"
	"github.com/firstlight/firstlight/internal/profile"
	"github.com/firstlight/firstlight/internal/site"
)

// Name is the requirement's.
const Name = "robust_controller"

// Deps is what the check needs to observe; judging needs none of it.
type Deps struct {
	// Cluster gives the cluster, which may take until it is up.
	Cluster func(ctx context.Context) (*kube.Cluster, error)
	RunID   string
	// Disruptive allows that the operator's controller is killed.
	Disruptive bool
	// KillOutside kills the controller of an operator (its name, as in operators/*.yaml)
	// that is no pod of the cluster but a program beside it, and says what it killed.
	// Nil where nobody can: that half is not run then. Pods are deleted without it.
	KillOutside func(ctx context.Context, operator string) (killed string, err error)
	// Operators are those to look for; nil: all that are known.
	Operators []Operator
	// Deadline is for one resource, from its creation to its end; zero: the operator's.
	Deadline time.Duration
	// Clock is the real one when nil.
	Clock clock.PassiveClock
}

// Check is the check.
type Check struct {
	deps      Deps
	nodes     []string
	image     string
	operators []Operator
	// unreadable is why there are no operators; tests hold that it is nil.
	unreadable error
}

var _ check.Check = (*Check)(nil)

// New makes the check for a site. Of the profile it needs nothing.
func New(s *site.Site, _ *profile.Profile, deps Deps) *Check {
	c := &Check{deps: deps, operators: deps.Operators, image: s.Telemetry.LoadImage}
	if c.operators == nil {
		c.operators, c.unreadable = Operators()
	}
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

// Claims is how many GPUs of the inventory the check holds at a time.
func (*Check) Claims() int { return 1 }

// Describe says what the check would do.
func (c *Check) Describe() []string {
	out := []string{
		fmt.Sprintf("find a complex AI operator: %v", definitionsOf(c.operators)),
		"read its definitions, its webhook, and who serves it",
		"create a resource of it, whose pod holds one GPU for seconds, and follow what is made of it to its end",
		"create one that only its webhook can deny, and one that the schema must deny",
	}
	if c.deps.Disruptive {
		return append(out, "kill its controller while a resource is in the making, and follow that one to its end")
	}
	return append(out, "(its controller is not killed: that needs --disruptive)")
}

// Observe implements check.Check. What it created is removed when it returns, and
// every call that it made is among the observations.
func (c *Check) Observe(ctx context.Context, rec check.Recorder) error {
	if c.unreadable != nil {
		return c.unreadable
	}
	if c.deps.Cluster == nil {
		return errors.New("observe a complex operator: no cluster is given")
	}
	given, err := c.deps.Cluster(ctx)
	if err != nil {
		return fmt.Errorf("observe a complex operator: %w", err)
	}
	log := calls.NewLog(c.deps.Clock)
	cluster, err := kube.New(log.Record(given.Config))
	if err != nil {
		return fmt.Errorf("observe a complex operator: %w", err)
	}
	w := &walk{Check: c, cluster: cluster, rec: rec}
	return errors.Join(w.observe(ctx), log.Keep(rec, "cluster"))
}
