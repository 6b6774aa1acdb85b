package gate

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

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

// Claims is the number of GPUs of the site that holds for every group: the largest part of its own GPUs
// that a group claims, of all GPUs. Gates that fit together in the site then fit in each group.
func (g grouped) Claims() int {
	total, part := 0, 0.0
	for i, v := range g.site.Views(g.profile) {
		gpus := len(v.Site.Inventory.Nodes) * int(v.Profile.Node.GPUs.Value)
		total += gpus
		if c, ok := g.members[i].gate.(interface{ Claims() int }); ok && gpus > 0 {
			part = max(part, float64(c.Claims())/float64(gpus))
		}
	}
	return int(math.Ceil(min(part, 1) * float64(total)))
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

// groupRecorder records observations of a group.
type groupRecorder struct {
	check.Recorder
	group string
}

// Record implements check.Recorder.
func (r groupRecorder) Record(o check.Observation) (check.Observation, error) {
	o.Group = r.group
	return r.Recorder.Record(o)
}

// Progress implements check.Recorder.
func (r groupRecorder) Progress(format string, args ...any) {
	r.Recorder.Progress("%s: %s", r.group, fmt.Sprintf(format, args...))
}

// Observe implements check.Check. A group that cannot be observed does not end the others.
func (g grouped) Observe(ctx context.Context, rec check.Recorder) error {
	var problems []error
	for _, m := range g.members {
		if err := ctx.Err(); err != nil {
			return errors.Join(append(problems, err)...)
		}
		if err := m.gate.Observe(ctx, groupRecorder{rec, m.group}); err != nil {
			problems = append(problems, fmt.Errorf("group %s: %w", m.group, err))
		}
	}
	return errors.Join(problems...)
}

// ofGroup are the observations of a group.
func ofGroup(obs []check.Observation, group string) []check.Observation {
	var out []check.Observation
	for _, o := range obs {
		if o.Group == group {
			out = append(out, o)
		}
	}
	return out
}

// Judge implements check.Check: it passes if every group passes.
func (g grouped) Judge(obs []check.Observation) check.Judgement {
	for _, o := range obs {
		if !slices.ContainsFunc(g.members, func(m member) bool { return m.group == o.Group }) {
			return check.NotObserved(fmt.Sprintf("observation %s is of group %q, which the site does not have", o.ID, o.Group))
		}
	}
	by := map[check.Verdict][]check.Judgement{}
	var figures []check.Figure
	for _, m := range g.members {
		j := check.NotObserved("nothing was observed")
		if of := ofGroup(obs, m.group); len(of) > 0 {
			j = m.gate.Judge(of)
		}
		if j.Verdict != check.Passed && j.Verdict != check.Failed {
			j.Verdict = check.Unobserved
		}
		j.Reason = m.group + ": " + j.Reason
		for _, f := range j.Figures {
			f.Name = m.group + ": " + f.Name
			figures = append(figures, f)
		}
		by[j.Verdict] = append(by[j.Verdict], j)
	}
	out := check.Judgement{Figures: figures}
	for _, v := range []check.Verdict{check.Failed, check.Unobserved, check.Passed} { // the first that a group has
		var reasons []string
		for _, j := range by[v] {
			reasons, out.Findings = append(reasons, j.Reason), append(out.Findings, j.Findings...)
		}
		if out.Verdict == "" && len(reasons) > 0 {
			out.Verdict, out.Reason = v, strings.Join(reasons, "; ")
		}
	}
	return out
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
			for _, c := range d.Charts(ofGroup(obs, m.group)) {
				c.Title = m.group + ": " + c.Title
				out = append(out, c)
			}
		}
	}
	return out
}
