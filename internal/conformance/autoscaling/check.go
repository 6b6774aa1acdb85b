// Package autoscaling is two requirements on package autoscale's chain, hop by hop.
//
// pod_autoscaling: the HPA scales pods that use accelerators on a metric of them. The metric
// moves and the replicas follow it up and down; while it is flat nothing scales. The replicas
// stay on existing GPUs. The HPA's target must not change: the metric must move.
//
// cluster_autoscaling: GPU nodes are added for pending pods that request GPUs and removed
// after them, whichever autoscaler does it: the check judges what scales, not what is
// installed.
package autoscaling

import (
	"context"
	"fmt"

	"github.com/firstlight/firstlight/internal/autoscale"
	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/conformance"
	"github.com/firstlight/firstlight/internal/probe/kube"
	"github.com/firstlight/firstlight/internal/profile"
	"github.com/firstlight/firstlight/internal/site"
)

// Check is cluster_autoscaling or pod_autoscaling, by name.
type Check struct {
	name    string
	site    *site.Site
	profile *profile.Profile
	deps    conformance.Deps
	// existing: the replicas stay on existing nodes.
	existing bool
}

// NewPods returns the check of pod_autoscaling. Deps.Timeout is what a hop may take beyond
// three times its budget; 0 is the chain's default.
func NewPods(s *site.Site, p *profile.Profile, deps conformance.Deps) *Check {
	return &Check{name: "pod_autoscaling", site: s, profile: p, deps: deps.WithDefaults(0), existing: true}
}

// NewCluster returns the check of cluster_autoscaling, with Deps.Timeout as in NewPods.
func NewCluster(s *site.Site, p *profile.Profile, deps conformance.Deps) *Check {
	return &Check{name: "cluster_autoscaling", site: s, profile: p, deps: deps.WithDefaults(0)}
}

// Name implements check.Check.
func (c *Check) Name() string { return c.name }

func (c *Check) chain(cluster *kube.Cluster) *autoscale.Chain {
	open := func(context.Context) (*kube.Cluster, error) { return cluster, nil }
	return autoscale.New(c.site, c.profile, autoscale.Options{Stay: c.existing, HopTimeout: c.deps.Timeout}, autoscale.Deps{Cluster: open, RunID: c.deps.RunID})
}

// Claims is how many GPUs of the inventory the check holds at most.
func (c *Check) Claims() int { return c.chain(nil).Claims() }

// Describe lists what the check does.
func (c *Check) Describe() []string { return c.chain(nil).Describe() }

// Observe implements check.Check. It removes what the run created, by its label.
func (c *Check) Observe(ctx context.Context, rec check.Recorder) error {
	return c.deps.Observe(ctx, rec, c.name, func(ctx context.Context, cluster *kube.Cluster, rec check.Observer) error {
		if err := c.chain(cluster).Observe(ctx, rec.Recorder); err != nil {
			return fmt.Errorf("observe %s: %w", c.name, err)
		}
		return nil
	})
}

// Lowered implements plan.Lowers.
func (c *Check) Lowered() []string { return c.chain(nil).Lowered() }
