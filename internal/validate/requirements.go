package validate

import (
	"context"
	"fmt"
	"slices"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/conformance/access"
	"github.com/firstlight/firstlight/internal/conformance/clusterautoscaling"
	"github.com/firstlight/firstlight/internal/conformance/controller"
	"github.com/firstlight/firstlight/internal/conformance/disaggregated"
	"github.com/firstlight/firstlight/internal/conformance/dra"
	"github.com/firstlight/firstlight/internal/conformance/drivers"
	"github.com/firstlight/firstlight/internal/conformance/gang"
	"github.com/firstlight/firstlight/internal/conformance/inference"
	"github.com/firstlight/firstlight/internal/conformance/metrics"
	"github.com/firstlight/firstlight/internal/conformance/network"
	"github.com/firstlight/firstlight/internal/conformance/podautoscaling"
	"github.com/firstlight/firstlight/internal/conformance/pools"
	"github.com/firstlight/firstlight/internal/conformance/programme"
	"github.com/firstlight/firstlight/internal/conformance/sandbox"
	"github.com/firstlight/firstlight/internal/conformance/servicemetrics"
	"github.com/firstlight/firstlight/internal/conformance/sharing"
	"github.com/firstlight/firstlight/internal/conformance/standing"
	"github.com/firstlight/firstlight/internal/conformance/vgpu"
	"github.com/firstlight/firstlight/internal/probe/kube"
	"github.com/firstlight/firstlight/internal/profile"
	"github.com/firstlight/firstlight/internal/site"
)

// Reach is how checks get at what they look at; zero where they only judge or are only
// described.
type Reach struct {
	// Cluster may wait for the cluster to come up.
	Cluster func(ctx context.Context) (*kube.Cluster, error)
	// RunID labels everything that is created.
	RunID string
	// KillOutside kills an operator's controller that is no pod of the cluster; nil where
	// nobody can.
	KillOutside func(ctx context.Context, operator string) (killed string, err error)
}

// described is what every check of ours offers.
type described interface {
	check.Check
	Describe() []string
}

// requirement makes the check of a requirement.
type requirement func(s *site.Site, p *profile.Profile, r Reach, disruptive bool) described

// requirements that there is a check for.
var requirements = map[string]requirement{
	dra.Name: func(s *site.Site, p *profile.Profile, r Reach, _ bool) described {
		return dra.New(s, p, dra.Deps{Cluster: r.Cluster, RunID: r.RunID})
	},
	access.Name: func(s *site.Site, p *profile.Profile, r Reach, _ bool) described {
		return access.New(s, p, access.Deps{Cluster: r.Cluster, RunID: r.RunID})
	},
	gang.Name: func(s *site.Site, p *profile.Profile, r Reach, _ bool) described {
		return gang.New(s, p, gang.Deps{Cluster: r.Cluster, RunID: r.RunID})
	},
	metrics.Name: func(s *site.Site, p *profile.Profile, r Reach, disruptive bool) described {
		return metrics.New(s, p, metrics.Deps{Cluster: r.Cluster, RunID: r.RunID, Disruptive: disruptive})
	},
	servicemetrics.Name: func(s *site.Site, p *profile.Profile, r Reach, disruptive bool) described {
		return servicemetrics.New(s, p, servicemetrics.Deps{Cluster: r.Cluster, RunID: r.RunID, Disruptive: disruptive})
	},
	podautoscaling.Name: func(s *site.Site, p *profile.Profile, r Reach, disruptive bool) described {
		return podautoscaling.New(s, p, podautoscaling.Deps{Cluster: r.Cluster, RunID: r.RunID, Disruptive: disruptive})
	},
	clusterautoscaling.Name: func(s *site.Site, p *profile.Profile, r Reach, _ bool) described {
		return clusterautoscaling.New(s, p, clusterautoscaling.Deps{Cluster: r.Cluster, RunID: r.RunID})
	},
	inference.Name: func(s *site.Site, p *profile.Profile, r Reach, _ bool) described {
		return inference.New(s, p, inference.Deps{Cluster: r.Cluster, RunID: r.RunID})
	},
	controller.Name: func(s *site.Site, p *profile.Profile, r Reach, disruptive bool) described {
		return controller.New(s, p, controller.Deps{Cluster: r.Cluster, RunID: r.RunID, Disruptive: disruptive, KillOutside: r.KillOutside})
	},
	drivers.Name:       recommended(drivers.New),
	sharing.Name:       recommended(sharing.New),
	vgpu.Name:          recommended(vgpu.New),
	pools.Name:         recommended(pools.New),
	network.Name:       recommended(network.New),
	disaggregated.Name: recommended(disaggregated.New),
	sandbox.Name:       recommended(sandbox.New),
}

// recommended makes a check of what should be met: none of them disturbs anybody.
func recommended[C described](construct func(*site.Site, *profile.Profile, standing.Deps) C) requirement {
	return func(s *site.Site, p *profile.Profile, r Reach, _ bool) described {
		return construct(s, p, standing.Deps{Cluster: r.Cluster, RunID: r.RunID})
	}
}

// Requirements are the ids of a version's requirements, each shown by a check: those that
// must be met in the programme's order, then those that should. One that there is no
// check for is an error: a run without it would be no proof.
func Requirements(version string) ([]string, error) {
	must, err := ofLevel(version, programme.Must)
	if err != nil {
		return nil, err
	}
	should, err := Recommended(version)
	if err != nil {
		return nil, err
	}
	// Later versions leave to Kubernetes' own conformance what shows that GPUs can be
	// claimed at all; what claims them here still wants to know.
	if !slices.Contains(must, dra.Name) {
		must = append([]string{dra.Name}, must...)
	}
	return append(must, should...), nil
}

// Recommended are those of a version's Requirements that fail no run: the programme says
// of them that they should be met.
func Recommended(version string) ([]string, error) { return ofLevel(version, programme.Should) }

// ofLevel are a version's requirements of a level, in the programme's order.
func ofLevel(version string, level programme.Level) ([]string, error) {
	p, err := programme.Load(version)
	if err != nil {
		return nil, fmt.Errorf("requirements of %s: %w", version, err)
	}
	var out []string
	for _, r := range p.Requirements {
		if r.Level != level {
			continue
		}
		if _, known := requirements[r.ID]; !known {
			return nil, fmt.Errorf("version %s has %s, and there is no check of it", version, r.ID)
		}
		out = append(out, r.ID)
	}
	return out, nil
}
