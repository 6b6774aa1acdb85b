package capacity

import (
	"fmt"
	"slices"

	"github.com/firstlight/firstlight/internal/gate"
	"github.com/firstlight/firstlight/internal/gate/collective"
	"github.com/firstlight/firstlight/internal/gate/node"
	"github.com/firstlight/firstlight/internal/plan"
	"github.com/firstlight/firstlight/internal/profile"
	"github.com/firstlight/firstlight/internal/site"
)

// Steps are the names of the steps, in order.
func Steps() []string { return []string{CordonStep, node.Name, collective.PairsName, collective.Name} }

// Plan is the plan of an addition. Every new node that fails by itself is left out.
func Plan(s *site.Site, p *profile.Profile, a Addition, access gate.Access) (plan.Plan, error) {
	all := a.SiteOf(s)
	steps, err := gate.Adding(all, p, a.To.Nodes, a.To.Components, access)
	if err != nil {
		return plan.Plan{}, err
	}
	c := cordon{site: all, addition: a, cluster: access.Cluster}
	steps[0].Needs = []string{CordonStep}
	last := &steps[len(steps)-1]
	if g, ok := last.Check.(*collective.Gate); ok {
		last.Check = finalCollective{g, all, a}
	}
	out := plan.Plan{
		Name: a.title(), AllowFailed: len(a.Nodes),
		Steps: slices.Concat([]plan.Step{{Check: c, Describe: c.Describe()}}, steps),
	}
	if err := out.Validate(); err != nil {
		return plan.Plan{}, fmt.Errorf("plan the new nodes of %s: %w", s.Name, err)
	}
	return out, nil
}
