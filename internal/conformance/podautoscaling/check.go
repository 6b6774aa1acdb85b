package podautoscaling

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/firstlight/firstlight/internal/autoscale"
	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/conformance/calls"
	"github.com/firstlight/firstlight/internal/probe/kube"
	"github.com/firstlight/firstlight/internal/profile"
	"github.com/firstlight/firstlight/internal/site"
)

// Name is the requirement's.
const Name = "pod_autoscaling"

// Deps is what the check needs to observe; judging needs none of it.
type Deps struct {
	// Cluster gives the cluster, which may take until it is up.
	Cluster func(ctx context.Context) (*kube.Cluster, error)
	RunID   string
	// Disruptive is not asked for: the check takes free GPUs only and disturbs nobody.
	Disruptive bool
	// Patience is what a hop may take beyond three times its budget; 0: the chain's default.
	Patience time.Duration
}

// Check is the check.
type Check struct {
	site    *site.Site
	profile *profile.Profile
	deps    Deps
}

var _ check.Check = (*Check)(nil)

// New makes the check for a site and the profile of its hardware.
func New(s *site.Site, p *profile.Profile, deps Deps) *Check {
	return &Check{site: s, profile: p, deps: deps}
}

// Name implements check.Check.
func (*Check) Name() string { return Name }

func (c *Check) chain(cluster func(context.Context) (*kube.Cluster, error)) *autoscale.Chain {
	return autoscale.New(c.site, c.profile, autoscale.Options{Stay: true, Patience: c.deps.Patience}, autoscale.Deps{Cluster: cluster, RunID: c.deps.RunID})
}

// Claims is how many GPUs of the inventory the check holds at most.
func (c *Check) Claims() int { return c.chain(nil).Claims() }

// Describe says what the check would do.
func (c *Check) Describe() []string { return c.chain(nil).Describe() }

// Observe implements check.Check: the chain's observations, and the calls that it
// made. What the run created is removed at the end, found by its label.
func (c *Check) Observe(ctx context.Context, rec check.Recorder) error {
	if c.deps.Cluster == nil {
		return errors.New("observe pod autoscaling: no cluster is given")
	}
	log := calls.NewLog(nil)
	err := c.chain(func(ctx context.Context) (*kube.Cluster, error) {
		cluster, err := c.deps.Cluster(ctx)
		if err != nil {
			return nil, err //nolint:wrapcheck // says what it opened
		}
		return kube.New(log.Record(cluster.Config)) //nolint:wrapcheck // says what it makes
	}).Observe(ctx, rec)
	if err != nil {
		return fmt.Errorf("observe pod autoscaling: %w", errors.Join(err, log.Keep(rec, "cluster")))
	}
	return log.Keep(rec, "cluster") //nolint:wrapcheck // the store's own words
}
