package resources

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"k8s.io/utils/clock"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/probe/kube"
)

// Name is the step's.
const Name = "resources"

// How long, and how often, the cluster is looked at.
const (
	DefaultTimeout  = 10 * time.Second
	DefaultInterval = time.Second
	// answerWithin is what the last look may take on top.
	answerWithin = 3 * time.Second
)

// Deps is what the check needs to observe; judging needs none of it.
type Deps struct {
	// Cluster gives the cluster, which may take until it is up.
	Cluster func(ctx context.Context) (*kube.Cluster, error)
	// Clock is the real one when nil.
	Clock clock.WithTicker
}

// Options of the check.
type Options struct {
	// Timeout until when everything has to be complete; 0: DefaultTimeout.
	Timeout time.Duration
	// Interval between two looks; 0: DefaultInterval.
	Interval time.Duration
}

// Check is the step.
type Check struct {
	deps     Deps
	opts     Options
	expected []Object
}

var _ check.Check = (*Check)(nil)

// New makes the check of what has to be there.
func New(expected []Object, deps Deps, o Options) *Check {
	if deps.Clock == nil {
		deps.Clock = clock.RealClock{}
	}
	if o.Timeout == 0 {
		o.Timeout = DefaultTimeout
	}
	if o.Interval == 0 {
		o.Interval = DefaultInterval
	}
	return &Check{deps: deps, opts: o, expected: slices.Clone(expected)}
}

// Name implements check.Check.
func (c *Check) Name() string { return Name }

// Describe says what the check would do.
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
		return []string{"nothing is expected: the step fails"}
	}
	return []string{fmt.Sprintf("look for %s, at most %s", strings.Join(parts, ", "), c.opts.Timeout)}
}
