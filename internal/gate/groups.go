package gate

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/evidence/chart"
	"github.com/firstlight/firstlight/internal/gate/collective"
	"github.com/firstlight/firstlight/internal/gate/hostcommand"
	"github.com/firstlight/firstlight/internal/profile"
	"github.com/firstlight/firstlight/internal/site"
	"github.com/firstlight/firstlight/internal/workload"
)

// newGate makes a gate of a site with one profile.
type newGate func(s *site.Site, p *profile.Profile) gate

// inGroups is a gate that observes and judges each group of nodes of a site by itself, one after the
// other. For a site without groups it is the gate itself.
func inGroups(s *site.Site, p *profile.Profile, construct newGate) gate {
	if len(s.Groups) == 0 {
		return construct(s, p)
	}
	g := grouped{site: s, profile: p, construct: construct}
	for _, v := range s.Views(p) {
		g.members = append(g.members, member{v.Name, construct(v.Site, v.Profile)})
	}
	if _, ok := g.members[0].gate.(interface{ Nodes() []string }); ok {
		return localisingGroups{g}
	}
	return g
}

type member struct {
	group string
	gate  gate
}

// grouped is a gate of several groups.
type grouped struct {
	site      *site.Site
	profile   *profile.Profile
	construct newGate
	members   []member
}

// localisingGroups implements plan.Localising.
type localisingGroups struct{ grouped }

// Nodes implements plan.Localising.
func (g localisingGroups) Nodes() []string { return g.site.NodeNames() }

// Name implements check.Check.
func (g grouped) Name() string { return g.members[0].gate.Name() }

// Excluding implements plan.Excluding.
func (g grouped) Excluding(nodes []string) check.Check {
	return inGroups(g.site.Without(nodes), g.profile, g.construct)
}

// Describe lists the actions of Observe by group.
func (g grouped) Describe() []string {
	var out []string
	for _, m := range g.members {
		for _, line := range m.gate.Describe() {
			out = append(out, m.group+": "+line)
		}
	}
	return out
}

// Lowered implements plan.Lowers.
func (g grouped) Lowered() []string {
	var out []string
	views := g.site.Views(g.profile)
	for i, m := range g.members {
		if l, ok := m.gate.(interface{ Lowered() []string }); ok {
			for _, text := range l.Lowered() {
				out = append(out, m.group+": "+text)
			}
		}
		if g.Name() == collective.Name && len(views[i].Site.Inventory.Nodes) == 1 {
			out = append(out, m.group+": one node, so no collective between nodes")
		}
	}
	return out
}

// Observe implements check.Check. A group that cannot be observed does not end the others.
func (g grouped) Observe(ctx context.Context, rec check.Recorder) error {
	var problems []error
	for _, m := range g.members {
		if err := ctx.Err(); err != nil {
			return errors.Join(append(problems, err)...)
		}
		if err := m.gate.Observe(ctx, check.RecordGroup(rec, m.group)); err != nil {
			problems = append(problems, fmt.Errorf("group %s: %w", m.group, err))
		}
	}
	return errors.Join(problems...)
}

// HostCommands are those of each group on its own nodes.
func (g grouped) HostCommands() []hostcommand.Command {
	var out []hostcommand.Command
	for _, m := range g.members {
		if c, ok := m.gate.(interface{ HostCommands() []hostcommand.Command }); ok {
			out = append(out, c.HostCommands()...)
		}
	}
	return out
}

// RootCommands are those of all groups, each once.
func (g grouped) RootCommands() [][]string {
	var out [][]string
	for _, m := range g.members {
		if r, ok := m.gate.(interface{ RootCommands() [][]string }); ok {
			out = append(out, r.RootCommands()...)
		}
	}
	slices.SortFunc(out, slices.Compare[[]string])
	return slices.CompactFunc(out, slices.Equal[[]string])
}

// Workloads are those of all groups.
func (g grouped) Workloads() ([]workload.Spec, error) {
	var out []workload.Spec
	for _, m := range g.members {
		w, ok := m.gate.(interface {
			Workloads() ([]workload.Spec, error)
		})
		if !ok {
			continue
		}
		specs, err := w.Workloads()
		if err != nil {
			return nil, fmt.Errorf("group %s: %w", m.group, err)
		}
		out = append(out, specs...)
	}
	return out, nil
}

// Images are those of all groups, each once.
func (g grouped) Images() []string {
	var out []string
	for _, m := range g.members {
		if i, ok := m.gate.(interface{ Images() []string }); ok {
			out = append(out, i.Images()...)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// Charts are those of all groups.
func (g grouped) Charts(obs []check.Observation) []chart.Chart {
	var out []chart.Chart
	for _, m := range g.members {
		if d, ok := m.gate.(interface {
			Charts(obs []check.Observation) []chart.Chart
		}); ok {
			for _, c := range d.Charts(check.OfGroup(obs, m.group)) {
				c.Title = m.group + ": " + c.Title
				out = append(out, c)
			}
		}
	}
	return out
}
