package fabric

import (
	"fmt"
	"slices"
	"strings"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/gate/onhost"
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
	kindNet      = "ibnetdiscover"
	kindDesign   = "design"
	// kindLinksAfter is iblinkinfo after the soak, only if nodes left the subnet.
	kindLinksAfter = "iblinkinfo after soak"
)

// Gate is gate 2.
type Gate struct {
	site    *site.Site
	profile *profile.Profile
	deps    onhost.Deps
	// asked are the hosts that run sminfo.
	asked []string
	// via are the ports by which the tools may see the subnet, of which each host takes the first active one; zero: the
	// one that they choose.
	via []site.Via
}

// New returns the gate.
func New(s *site.Site, p *profile.Profile, deps onhost.Deps) *Gate {
	g := &Gate{site: s, profile: p, deps: deps.WithDefaults()}
	g.asked, g.via = g.smHosts(), g.viaPorts()
	return g
}

// Name implements check.Check.
func (g *Gate) Name() string { return Name }

// Excluding implements plan.Excluding. The subnet manager is that of the whole site.
func (g *Gate) Excluding(nodes []string) check.Check {
	out := New(g.site.Without(nodes), g.profile, g.deps)
	out.asked, out.via = g.asked, g.via
	return out
}

// Nodes implements plan.Localising.
func (g *Gate) Nodes() []string { return g.site.NodeNames() }

// Describe lists the commands of Observe.
func (g *Gate) Describe() []string {
	lines := []string{
		fmt.Sprintf("sminfo on %s, twice", strings.Join(g.asked, " and ")),
		fmt.Sprintf("ibqueryerrors, iblinkinfo -l, ibdiagnet on %s; ibqueryerrors again after a soak of %s", g.site.Reach.SSH.FabricHost, g.site.Fabric.Soak.D()),
		fmt.Sprintf("ibstat, and ibv_devinfo with the partition keys in sysfs, on %d hosts, %d at a time", len(g.site.Inventory.Nodes), g.site.Reach.SSH.Concurrency),
	}
	if g.site.Fabric.Design != "" {
		lines = append(lines, fmt.Sprintf("ibnetdiscover on %s, compared with %s", g.site.Reach.SSH.FabricHost, g.site.Fabric.Design))
	}
	return lines
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
