package validate

import (
	"context"
	"fmt"
	"slices"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/conformance/access"
	"github.com/firstlight/firstlight/internal/conformance/clusterautoscaling"
	"github.com/firstlight/firstlight/internal/conformance/controller"
	"github.com/firstlight/firstlight/internal/conformance/dra"
	"github.com/firstlight/firstlight/internal/conformance/gang"
	"github.com/firstlight/firstlight/internal/conformance/inference"
	"github.com/firstlight/firstlight/internal/conformance/metrics"
	"github.com/firstlight/firstlight/internal/conformance/podautoscaling"
	"github.com/firstlight/firstlight/internal/conformance/programme"
	"github.com/firstlight/firstlight/internal/conformance/servicemetrics"
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
}

// Requirements are the ids of a version's requirements that are shown by a check, in
// the programme's order. One that must be met and that there is no check for is an
// error: a run without it would be no proof.
func Requirements(version string) ([]string, error) {
	p, err := programme.Load(version)
	if err != nil {
		return nil, fmt.Errorf("requirements of %s: %w", version, err)
	}
	var out []string
	for _, r := range p.Requirements {
		switch _, known := requirements[r.ID]; {
		case known:
			out = append(out, r.ID)
		case r.Level == programme.Must:
			return nil, fmt.Errorf("version %s demands %s, and there is no check of it", version, r.ID)
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("version %s has no requirement that there is a check for", version)
	}
	// Later versions leave to Kubernetes' own conformance what shows that GPUs can be
	// claimed at all; what claims them here still wants to know.
	if !slices.Contains(out, dra.Name) {
		out = append([]string{dra.Name}, out...)
	}
	return out, nil
}
