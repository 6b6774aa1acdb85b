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
	"math"

	"github.com/firstlight/firstlight/internal/autoscale"
	"github.com/firstlight/firstlight/internal/autoscale/snapshot"
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

var _ check.Check = (*Check)(nil)

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

// Judge implements check.Check.
func (c *Check) Judge(obs []check.Observation) check.Judgement {
	j := c.chain(nil).Judge(obs)
	setups := check.OfKind(obs, snapshot.KindSetup)
	if len(setups) == 0 {
		return j // the chain reports it
	}
	setup, err := check.Decode[snapshot.Setup](setups[0])
	if err != nil {
		return j // the chain reports it
	}
	switch {
	case setup.Pool.Stay && !c.existing:
		return check.NotObserved("these observations are of a chain that adds no nodes, so of another check")
	case !setup.Pool.Stay && c.existing:
		return check.NotObserved("these observations are of a chain that adds nodes, so of another check")
	case !c.existing:
		return j
	}
	observed, changed := targetChanges(setup, obs)
	switch {
	case len(changed) > 0:
		j.Verdict, j.Findings = check.Failed, append(changed, j.Findings...)
		j.Reason = changed[0].Message
	case j.Verdict == check.Passed && !observed:
		return check.NotObserved("the HPA was never observed, so its target is unknown")
	case j.Verdict == check.Passed && setup.Scale.Why != "":
		j.Reason += "; the replicas held no GPUs: " + setup.Scale.Why
	}
	j.Figures = append(j.Figures, check.Figure{Name: "GPUs per replica", Value: float64(setup.Scale.GPUs), Unit: "GPUs"})
	return j
}

// targetChanges compares the HPA's target in every observed state with the one it was
// created with, and reports the first difference.
func targetChanges(setup snapshot.Setup, obs []check.Observation) (observed bool, changed []check.Finding) {
	for _, o := range check.OfKind(obs, snapshot.KindHop) {
		st, err := check.Decode[snapshot.State](o)
		if err != nil || st.HPA == nil {
			continue
		}
		observed = true
		if want := setup.Scale.Target; len(changed) == 0 && !(math.Abs(st.HPA.Target-want) <= 1e-6*math.Abs(want)) {
			changed = append(changed, check.NewFinding(o.ID, st.HPA.String(), "find what changes the HPA: an admission policy or another controller",
				"%s has target %g at hop %s, but was created with %g: the metric must move, not the target", st.HPA.String(), st.HPA.Target, o.Target, want))
		}
	}
	return observed, changed
}
