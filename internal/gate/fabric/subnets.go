package fabric

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/gate/hostcommand"
	"github.com/firstlight/firstlight/internal/gate/onhost"
	"github.com/firstlight/firstlight/internal/profile"
	"github.com/firstlight/firstlight/internal/site"
)

// Subnets is gate 2 of a site with several InfiniBand subnets: each is observed by its own port and judged
// by itself. The group of an observation is the name of its subnet.
type Subnets struct {
	site  *site.Site
	names []string
	gates []*Gate
}

// NewSubnets returns the gate.
func NewSubnets(s *site.Site, p *profile.Profile, deps onhost.Deps) *Subnets {
	out := &Subnets{site: s}
	for i, n := range s.Fabric.Subnets {
		out.names = append(out.names, n.Name)
		out.gates = append(out.gates, New(s.OnSubnet(i), p, deps))
	}
	return out
}

// Name implements check.Check.
func (s *Subnets) Name() string { return Name }

// Excluding implements plan.Excluding.
func (s *Subnets) Excluding(nodes []string) check.Check {
	less := s.site.Without(nodes)
	out := &Subnets{site: less, names: s.names}
	for i, g := range s.gates {
		of := New(less.OnSubnet(i), g.profile, g.deps)
		of.asked, of.via = g.asked, g.via
		out.gates = append(out.gates, of)
	}
	return out
}

// Nodes implements plan.Localising.
func (s *Subnets) Nodes() []string { return s.site.NodeNames() }

// Lowered implements plan.Lowers.
func (s *Subnets) Lowered() []string { return s.site.LoweredFabric() }

// Describe lists the commands of Observe by subnet.
func (s *Subnets) Describe() []string {
	var out []string
	for i, g := range s.gates {
		via := g.site.Fabric.Via
		out = append(out, fmt.Sprintf("subnet %s, through port %d of %s:", s.names[i], via.Port, via.HCA))
		out = append(out, g.Describe()...)
	}
	return out
}

// HostCommands are the commands of Observe, for a preflight.
func (s *Subnets) HostCommands() []hostcommand.Command {
	var out []hostcommand.Command
	for _, g := range s.gates {
		out = append(out, g.HostCommands()...)
	}
	return out
}

// RootCommands are the commands that need root.
func (s *Subnets) RootCommands() [][]string {
	var out [][]string
	for _, g := range s.gates {
		out = append(out, g.RootCommands()...)
	}
	return out
}

// Observe implements check.Check: all subnets in one soak. A subnet that cannot be observed does not end
// the others.
func (s *Subnets) Observe(ctx context.Context, rec check.Recorder) error {
	problems := make([]error, len(s.gates))
	var work sync.WaitGroup
	for i, g := range s.gates {
		work.Go(func() {
			if err := g.Observe(ctx, check.RecordGroup(rec, s.names[i])); err != nil {
				problems[i] = fmt.Errorf("subnet %s: %w", s.names[i], err)
			}
		})
	}
	work.Wait()
	return errors.Join(problems...)
}

// Judge implements check.Check: it passes if every subnet passes. Findings name their subnet.
func (s *Subnets) Judge(obs []check.Observation) check.Judgement {
	return check.Combine(s.names, obs, func(i int, of []check.Observation) check.Judgement {
		j := s.gates[i].Judge(of)
		j.Findings = slices.Clone(j.Findings)
		for k := range j.Findings {
			j.Findings[k].Message = "subnet " + s.names[i] + ": " + j.Findings[k].Message
		}
		return j
	})
}
