package roce

import (
	"fmt"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/gate/onhost"
	"github.com/firstlight/firstlight/internal/plan"
	"github.com/firstlight/firstlight/internal/profile"
	"github.com/firstlight/firstlight/internal/site"
)

// Name of the gate: that of every kind of fabric.
const Name = "fabric"

// The kinds of observations, each with a host as its target.
const (
	kindDevices  = "rdma devices"
	kindLinks    = "ip addr"
	kindVerbs    = "ibv_devinfo"
	kindQoS      = "qos"
	kindCounters = "counters"
)

// Gate is gate 2 of a RoCE fabric.
type Gate struct {
	site    *site.Site
	profile *profile.Profile
	deps    onhost.Deps
}

var _ plan.Lowers = (*Gate)(nil)

// New returns the gate.
func New(s *site.Site, p *profile.Profile, deps onhost.Deps) *Gate {
	return &Gate{site: s, profile: p, deps: deps.WithDefaults()}
}

// Name implements check.Check.
func (g *Gate) Name() string { return Name }

// Excluding implements plan.Excluding.
func (g *Gate) Excluding(nodes []string) check.Check {
	return New(g.site.Without(nodes), g.profile, g.deps)
}

// Nodes implements plan.Localising.
func (g *Gate) Nodes() []string { return g.site.NodeNames() }

// Lowered implements plan.Lowers.
func (g *Gate) Lowered() []string { return g.site.LoweredFabric() }

// Describe lists the commands of Observe.
func (g *Gate) Describe() []string {
	return []string{
		fmt.Sprintf("on %d hosts, %d at a time, none as root:", len(g.site.Inventory.Nodes), g.site.Reach.SSH.Concurrency),
		"state, rate, firmware, GIDs and ECN of each HCA in /sys/class/infiniband (grep); ip -j addr show; ibv_devinfo",
		"mlnx_qos -i NETDEV, or dcb -j pfc show and dcb -j app show where mlnx_qos is not installed",
		fmt.Sprintf("ethtool -S NETDEV and hw_counters, again after a soak of %s", g.site.Fabric.Soak.D()),
	}
}
