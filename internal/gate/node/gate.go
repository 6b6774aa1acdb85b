package node

import (
	"context"
	"fmt"

	"k8s.io/utils/clock"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/probe/nvidia"
	"github.com/firstlight/firstlight/internal/probe/ssh"
	"github.com/firstlight/firstlight/internal/profile"
	"github.com/firstlight/firstlight/internal/site"
)

// Name of the gate.
const Name = "node"

// Hosts runs commands on the site's hosts.
type Hosts interface {
	Run(ctx context.Context, host string, argv ...string) (ssh.Output, error)
}

// Deps is what observing needs; zero when the gate only judges.
type Deps struct {
	Hosts Hosts
	// Clock defaults to the real clock.
	Clock clock.PassiveClock
}

// Gate is gate 3.
type Gate struct {
	site    *site.Site
	profile *profile.Profile
	deps    Deps
}

var _ check.Check = (*Gate)(nil)

// New makes the gate.
func New(s *site.Site, p *profile.Profile, deps Deps) *Gate {
	if deps.Clock == nil {
		deps.Clock = clock.RealClock{}
	}
	return &Gate{site: s, profile: p, deps: deps}
}

// Name implements check.Check.
func (g *Gate) Name() string { return Name }

// Describe says what would be run.
func (g *Gate) Describe() []string {
	out := []string{fmt.Sprintf("on %d hosts, %d at a time:", len(g.site.Inventory.Nodes), g.concurrency())}
	for _, c := range g.commands() {
		out = append(out, ssh.Quote(c.argv))
		if c.kind == kindDiag {
			out = append(out, "meanwhile, again and again: "+ssh.Quote(nvidia.ClockQuery()))
		}
	}
	return out
}

// concurrency is how many hosts are observed at a time.
func (g *Gate) concurrency() int { return max(1, g.site.Reach.SSH.Concurrency-1) }

// gpus a node and source write limits for figures.
func (g *Gate) gpus() int { return int(g.profile.Node.GPUs.Value) }

func (g *Gate) source(key string, f profile.Figure) string {
	return fmt.Sprintf("profile %s %s: %s", g.profile.Name, key, f.Source)
}
