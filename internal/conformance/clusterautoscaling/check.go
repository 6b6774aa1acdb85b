// Package clusterautoscaling is the requirement cluster_autoscaling: nodes with GPUs
// come for pending pods that want them and go when those are gone. It is package
// autoscale's chain, hop by hop, whichever autoscaler there is: what is judged is what
// scales, not what is installed.
package clusterautoscaling

import (
	"context"
	"errors"
	"fmt"

	"github.com/firstlight/firstlight/internal/autoscale"
	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/conformance/calls"
	"github.com/firstlight/firstlight/internal/probe/kube"
	"github.com/firstlight/firstlight/internal/profile"
	"github.com/firstlight/firstlight/internal/site"
)

// Name is the requirement's.
const Name = "cluster_autoscaling"

// Deps is what the check needs to observe; judging needs none of it.
type Deps struct {
	Cluster func(ctx context.Context) (*kube.Cluster, error)
	RunID   string
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
	return autoscale.New(c.site, c.profile, autoscale.Options{}, autoscale.Deps{Cluster: cluster, RunID: c.deps.RunID})
}

// Claims is how many GPUs of the inventory the check holds at most.
func (c *Check) Claims() int { return c.chain(nil).Claims() }

// Describe says what the check would do.
func (c *Check) Describe() []string { return c.chain(nil).Describe() }

// Judge implements check.Check.
func (c *Check) Judge(obs []check.Observation) check.Judgement { return c.chain(nil).Judge(obs) }

// Observe implements check.Check: the chain's observations, and the calls that it made.
func (c *Check) Observe(ctx context.Context, rec check.Recorder) error {
	if c.deps.Cluster == nil {
		return errors.New("observe cluster autoscaling: no cluster is given")
	}
	log := calls.NewLog(nil)
	err := c.chain(func(ctx context.Context) (*kube.Cluster, error) {
		cluster, err := c.deps.Cluster(ctx)
		if err != nil {
			return nil, err //nolint:wrapcheck // says what it opened
		}
		return kube.New(log.Record(cluster.Config)) //nolint:wrapcheck // says what it makes
	}).Observe(ctx, rec)
	if err = errors.Join(err, log.Keep(rec, "cluster")); err != nil {
		return fmt.Errorf("observe cluster autoscaling: %w", err)
	}
	return nil
}
