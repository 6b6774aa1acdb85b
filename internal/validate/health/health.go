package health

import (
	"context"
	"fmt"
	"time"

	"k8s.io/utils/clock"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/probe/kube"
)

// Name is the step's.
const Name = "health"

// Deps is what the check needs to observe; judging needs none of it.
type Deps struct {
	// Cluster gives the cluster, which may take until it is up.
	Cluster func(ctx context.Context) (*kube.Cluster, error)
	// Clock is the real one when nil.
	Clock clock.WithTicker
}

// Options of the check; the zero value takes what the files say.
type Options struct {
	// Timeout is the longest that an operation is waited for, whatever its file says;
	// 0: as the file says, or Chainsaw's 30 s.
	Timeout time.Duration
	// Interval between two looks; 0: assertion.Interval.
	Interval time.Duration
	// Parallel is how many components are looked at at a time; 0: 16.
	Parallel int
}

// defaultParallel keeps the requests a second below what a cluster in use notices:
// each component asks twice a second while it waits.
const defaultParallel = 16

// Check is the step.
type Check struct {
	deps       Deps
	opts       Options
	components []loaded
}

var _ check.Check = (*Check)(nil)

// New makes the check of components. What is wrong with their files is in the
// judgement, not here: the others are looked at all the same.
func New(components []Component, deps Deps, o Options) *Check {
	if deps.Clock == nil {
		deps.Clock = clock.RealClock{}
	}
	if o.Parallel == 0 {
		o.Parallel = defaultParallel
	}
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

// Name implements check.Check.
func (c *Check) Name() string { return Name }

// Describe says what the check would do.
func (c *Check) Describe() []string {
	var out []string
	for i := range c.components {
		l := &c.components[i]
		switch {
		case l.err != nil:
			out = append(out, fmt.Sprintf("%s: %s can't be used", l.Name, l.File))
		case l.File == "":
			out = append(out, l.Name+": has no assertions, and fails")
		default:
			out = append(out, fmt.Sprintf("%s: %d assertions of %s", l.Name, len(l.operations()), l.File))
		}
	}
	return out
}
