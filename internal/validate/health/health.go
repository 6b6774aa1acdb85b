package health

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"k8s.io/utils/clock"

	"github.com/firstlight/firstlight/internal/probe/kube"
)

// Name of the step.
const Name = "health"

// Deps are the dependencies of Observe; Judge needs none.
type Deps struct {
	// Cluster returns the cluster; it may block until the cluster is up.
	Cluster func(ctx context.Context) (*kube.Cluster, error)
	// Clock is the system clock if nil.
	Clock clock.WithTicker
}

// Options of the check; the zero value uses the values of the files.
type Options struct {
	// Timeout is the upper bound of an operation's timeout; 0: the file's own, or
	// Chainsaw's default of 30 s.
	Timeout time.Duration
	// Interval is the poll interval; 0: assertion.Interval.
	Interval time.Duration
	// Lowered are the limits of the site that a pass states.
	Lowered []string
	// Parallel is the number of components that are checked in parallel; 0: 16.
	Parallel int
}

// defaultParallel limits the request rate: each component polls twice a second while it
// waits.
const defaultParallel = 16

// Check implements the step.
type Check struct {
	deps       Deps
	opts       Options
	components []loaded
}

// New returns the check of components. Problems of their files are findings of the
// judgement; the other components are still checked.
func New(components []Component, deps Deps, o Options) *Check {
	deps.Clock = cmp.Or[clock.WithTicker](deps.Clock, clock.RealClock{})
	o.Parallel = cmp.Or(o.Parallel, defaultParallel)
	c := &Check{deps: deps, opts: o}
	for _, component := range components {
		l := load(component)
		for _, op := range l.operations() {
			if o.Timeout > 0 {
				op.Timeout = min(op.Timeout, o.Timeout)
			}
		}
		c.components = append(c.components, l)
	}
	return c
}

// Lowered implements plan.Lowers.
func (c *Check) Lowered() []string { return c.opts.Lowered }

// Name implements check.Check.
func (c *Check) Name() string { return Name }

// Describe returns a line for each component.
func (c *Check) Describe() []string {
	var out []string
	for i := range c.components {
		l := &c.components[i]
		switch {
		case l.err != nil:
			out = append(out, fmt.Sprintf("%s: %s is invalid", l.Name, l.File))
		case l.File == "":
			out = append(out, l.Name+": has no assertions and fails")
		default:
			out = append(out, fmt.Sprintf("%s: %d assertions of %s", l.Name, len(l.operations()), l.File))
		}
	}
	return out
}
