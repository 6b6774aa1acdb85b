package fabric

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/utils/clock"

	"github.com/firstlight/firstlight/internal/poll"
	"github.com/firstlight/firstlight/internal/probe/ssh"
	"github.com/firstlight/firstlight/internal/profile"
	"github.com/firstlight/firstlight/internal/site"
)

// Name of the gate.
const Name = "fabric"

// The kinds of observations.
const (
	kindSM       = "sminfo"
	kindLinks    = "iblinkinfo"
	kindCounters = "ibqueryerrors"
	kindDiag     = "ibdiagnet"
	kindPorts    = "ibstat"
	kindVerbs    = "ibv_devinfo"
)

// Hosts runs commands on the site's hosts.
type Hosts interface {
	Run(ctx context.Context, host string, argv ...string) (ssh.Output, error)
}

// Deps are the dependencies of Observe. They are zero for a gate that only judges.
type Deps struct {
	Hosts Hosts
	// Clock defaults to the real clock.
	Clock clock.PassiveClock
	// Wait waits for d or the end of ctx; defaults to a timer.
	Wait func(ctx context.Context, d time.Duration) error
}

// Gate is gate 2.
type Gate struct {
	site    *site.Site
	profile *profile.Profile
	deps    Deps
}

// New returns the gate.
func New(s *site.Site, p *profile.Profile, deps Deps) *Gate {
	deps.Clock = cmp.Or[clock.PassiveClock](deps.Clock, clock.RealClock{})
	if deps.Wait == nil {
		deps.Wait = wait
	}
	return &Gate{site: s, profile: p, deps: deps}
}

// Name implements check.Check.
func (g *Gate) Name() string { return Name }

// Describe lists the commands of Observe.
func (g *Gate) Describe() []string {
	return []string{
		fmt.Sprintf("sminfo on %s, twice", strings.Join(g.smHosts(), " and ")),
		fmt.Sprintf("ibqueryerrors, iblinkinfo -l, ibdiagnet on %s; ibqueryerrors again after a soak of %s", g.site.Reach.SSH.FabricHost, g.site.Fabric.Soak.D()),
		fmt.Sprintf("ibstat, and ibv_devinfo with the partition keys in sysfs, on %d hosts, %d at a time", len(g.site.Inventory.Nodes), g.site.Reach.SSH.Concurrency),
	}
}

// smHosts are the hosts that run sminfo: two if the site has two, since they may follow
// different subnet managers.
func (g *Gate) smHosts() []string {
	first := g.site.Reach.SSH.FabricHost
	nodes := g.site.Inventory.Nodes
	for _, node := range slices.Backward(nodes) {
		if node.Name != first {
			return []string{first, node.Name}
		}
	}
	return []string{first}
}

func wait(ctx context.Context, d time.Duration) error {
	if poll.Sleep(ctx, d) != nil {
		return ctx.Err()
	}
	return nil
}
