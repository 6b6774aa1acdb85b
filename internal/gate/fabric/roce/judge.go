package roce

import (
	"fmt"
	"slices"
	"strings"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/site"
)

// Judge implements check.Check.
func (g *Gate) Judge(obs []check.Observation) check.Judgement {
	b := &check.Builder{}
	s, limits := g.site, g.profile.Fabric.RoCE
	if len(s.Inventory.Nodes) == 0 || len(s.Fabric.HCAs) == 0 || s.Fabric.RoCE == nil || s.Fabric.RoCE.Priority == nil {
		b.Unobserved("", "site fabric", "declare inventory.nodes, fabric.hcas and fabric.roce in the site", "the site declares no adapters, or no priority of RDMA traffic")
		return b.Judgement("")
	}
	if limits == nil || len(g.profile.Fabric.CounterLimits) == 0 {
		b.Unobserved("", "profile "+g.profile.Name, "use a profile with fabric.roce and fabric.counterLimits", "profile %s has no limits of a RoCE fabric", g.profile.Name)
		return b.Judgement("")
	}
	views := g.views(b, g.hosts(b, obs))
	g.judgePorts(b, views)
	judgeFirmware(b, views)
	g.judgeMTU(b, views)
	judgeGIDs(b, views)
	g.judgeQoS(b, views)
	g.judgeECN(b, views)
	g.judgeCounters(b, obs, views)
	b.MergeSuspects()
	return b.Judgement(g.summary())
}

// summary is the reason of a pass.
func (g *Gate) summary() string {
	f := g.site.Fabric
	parts := []string{fmt.Sprintf("%d RoCE ports up at %g Gb/s with an RDMA MTU of %g", g.expected(), g.profile.Fabric.Rate.Value, g.profile.Fabric.RoCE.MTU.Value)}
	var on []string
	if g.demands(site.WithoutPFC) {
		on = append(on, "PFC")
	}
	if g.demands(site.WithoutECN) {
		on = append(on, "ECN")
	}
	if len(on) > 0 {
		parts = append(parts, fmt.Sprintf("%s on priority %d", strings.Join(on, " and "), g.priority()))
	}
	return strings.Join(append(parts, fmt.Sprintf("counters within their limits over %s", f.Soak.D())), ", ")
}

// expected is the number of ports of the site.
func (g *Gate) expected() int { return len(g.site.Inventory.Nodes) * len(g.site.Fabric.HCAs) }

// priority is that of RDMA traffic.
func (g *Gate) priority() int { return *g.site.Fabric.RoCE.Priority }

// classified reports whether the site says anything that the QoS of a port must show.
func (g *Gate) classified() bool {
	r := g.site.Fabric.RoCE
	return r != nil && (g.demands(site.WithoutPFC) || r.DSCP != nil)
}

// demands reports whether the site's fabric uses a mechanism.
func (g *Gate) demands(mechanism string) bool {
	return !slices.Contains(g.site.Fabric.RoCE.Without, mechanism)
}
