package gate

import (
	"fmt"

	"github.com/firstlight/firstlight/internal/gate/collective"
	"github.com/firstlight/firstlight/internal/gate/node"
	"github.com/firstlight/firstlight/internal/plan"
	"github.com/firstlight/firstlight/internal/profile"
	"github.com/firstlight/firstlight/internal/site"
)

// Adding are the steps for new nodes of a site that has accepted and new ones, in order: gate node on
// the new ones, pairs of a new and an accepted one, gate collective on all. Their pods also run on
// cordoned nodes. The new nodes have the versions of the accepted ones; none: they are compared with each
// other.
func Adding(s *site.Site, p *profile.Profile, accepted []string, versions node.Components, a Access) ([]plan.Step, error) {
	if err := checkPods(s, p); err != nil {
		return nil, fmt.Errorf("plan the new nodes of %s: %w", s.Name, err)
	}
	job := collective.Deps{Cluster: a.Cluster, RunID: a.RunID, Cordoned: true}
	steps := []plan.Step{
		stepOf(node.New(s.Part(accepted), p, node.Deps{Hosts: a.Tools(s), Cluster: a.Cluster}).Like(versions)),
		stepOf(collective.NewPairs(s, p, job, accepted)),
		stepOf(collective.New(s, p, job)),
	}
	for i := range steps[1:] {
		steps[i+1].Needs = []string{steps[i].Name()}
	}
	return steps, nil
}
