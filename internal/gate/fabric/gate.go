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
	// via is the port by which the tools see the subnet; zero: the one that they choose.
	via site.Via
}

// New returns the gate.
func New(s *site.Site, p *profile.Profile, deps onhost.Deps) *Gate {
	g := &Gate{site: s, profile: p, deps: deps.WithDefaults()}
	g.asked, g.via = g.smHosts(), g.viaPort()
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

// firstDevice is the device whose port the tools of the fabric take, if it is active: they take the first one by name.
const firstDevice = "mlx5_0"

// viaPort is the port of the subnet, or of the first of fabric.hcas if that is not the first device of the host: an
// earlier one may be on a storage network.
func (g *Gate) viaPort() site.Via {
	if v := g.site.Fabric.Via; v.HCA != "" {
		return v
	}
	hcas := g.site.Fabric.HCAs
	if len(hcas) == 0 || hcas[0] == firstDevice || !slices.Contains(g.site.NodeNames(), g.site.Reach.SSH.FabricHost) {
		return site.Via{} // a host of other nodes may have other adapters
	}
	return site.Via{HCA: hcas[0], Port: firstPort}
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
