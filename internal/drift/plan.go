package drift

import (
	"fmt"
	"slices"

	"github.com/firstlight/firstlight/internal/gate"
	"github.com/firstlight/firstlight/internal/gate/collective"
	"github.com/firstlight/firstlight/internal/gate/inference"
	"github.com/firstlight/firstlight/internal/gate/node"
	"github.com/firstlight/firstlight/internal/plan"
	"github.com/firstlight/firstlight/internal/profile"
	"github.com/firstlight/firstlight/internal/site"
)

// Plan compares a cluster with its baseline: its stack, then the gates from collective on.
func Plan(s *site.Site, p *profile.Profile, b Baseline, a gate.Access) (plan.Plan, error) {
	if len(s.Groups) > 0 {
		return plan.Plan{}, fmt.Errorf("plan the comparison of %s: a baseline is of one profile, and the site has groups of nodes with others: "+
			"make a site file for each group, and accept and compare it by itself", s.Name)
	}
	playbook, err := gate.Playbook(s, p, a)
	if err != nil {
		return plan.Plan{}, err
	}
	bands, err := loadBands()
	if err != nil {
		return plan.Plan{}, err
	}
	versions := stack{site: s, profile: p, baseline: b, versions: node.NewVersions(s, p, node.Deps{Hosts: a.Tools(s)})}
	out := plan.Plan{
		Name:  fmt.Sprintf("drift of %s since run %s", s.Name, b.Run),
		Steps: []plan.Step{{Check: versions, Describe: versions.Describe()}},
	}
	for _, step := range playbook.Steps {
		if !slices.Contains(measured(), step.Name()) {
			continue
		}
		c := compared{Check: step.Check, profile: p, objectives: inference.ObjectivesOf(s, p), baseline: b, bands: bands}
		if g, ok := step.Check.(*collective.Gate); ok {
			d := collective.Drift{Gate: g, ReplaceAt: bands.Gates[collective.Name].Replace}
			c.Check, step.Describe = d, d.Describe()
		}
		step.Check = c
		step.Prepare, step.Playbooks = nil, plan.Step{}.Playbooks // a comparison changes nothing
		if step.Needs = []string{collective.Name}; step.Name() == collective.Name {
			step.Needs = []string{StackStep}
		}
		out.Steps = append(out.Steps, step)
	}
	if err := out.Validate(); err != nil {
		return plan.Plan{}, fmt.Errorf("plan the comparison of %s: %w", s.Name, err)
	}
	return out, nil
}
