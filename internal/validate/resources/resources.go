package resources

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"k8s.io/utils/clock"

	"github.com/firstlight/firstlight/internal/probe/kube"
)

// Name of the step.
const Name = "resources"

// Timeout and interval of polling the cluster.
const (
	DefaultTimeout  = 10 * time.Second
	DefaultInterval = time.Second
	// answerWithin is the extra time for the last read.
	answerWithin = 3 * time.Second
)

// Deps are the dependencies of Observe; Judge needs none.
type Deps struct {
	// Cluster returns the cluster; it may block until the cluster is up.
	Cluster func(ctx context.Context) (*kube.Cluster, error)
	// Clock is the system clock if nil.
	Clock clock.WithTicker
}

// Options of the check.
type Options struct {
	// Timeout for all objects to be complete; 0: DefaultTimeout.
	Timeout time.Duration
	// Interval is the poll interval; 0: DefaultInterval.
	Interval time.Duration
}

// Check implements the step.
type Check struct {
	deps     Deps
	opts     Options
	expected []Object
}

// New returns the check of the expected objects.
func New(expected []Object, deps Deps, o Options) *Check {
	deps.Clock = cmp.Or[clock.WithTicker](deps.Clock, clock.RealClock{})
	o.Timeout = cmp.Or(o.Timeout, DefaultTimeout)
	o.Interval = cmp.Or(o.Interval, DefaultInterval)
	return &Check{deps: deps, opts: o, expected: slices.Clone(expected)}
}

// Name implements check.Check.
func (c *Check) Name() string { return Name }

// Describe returns the number of objects by kind.
func (c *Check) Describe() []string {
	kinds := map[string]int{}
	for _, o := range c.expected {
		kinds[o.Kind]++
	}
	var parts []string
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		parts = append(parts, fmt.Sprintf("%d %s", kinds[kind], kind))
	}
	if len(parts) == 0 {
		return []string{"no objects expected: the step fails"}
	}
	return []string{fmt.Sprintf("read %s, timeout %s", strings.Join(parts, ", "), c.opts.Timeout)}
}
