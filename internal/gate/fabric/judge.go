package fabric

import (
	"fmt"

	"github.com/firstlight/firstlight/internal/check"
)

// Judge implements check.Check.
func (g *Gate) Judge(obs []check.Observation) check.Judgement {
	b := &check.Builder{}
	if len(g.site.Inventory.Nodes) == 0 || len(g.site.Fabric.HCAs) == 0 || g.site.Fabric.Links == 0 {
		b.Unobserved("", "site fabric", "declare inventory.nodes, fabric.hcas and fabric.links in the site", "the site declares no adapters or no links")
	}
	names := g.names(obs)
	adapters := g.adapters(b, obs)
	judgeGUIDs(b, adapters) // first: an adapter with a duplicate GUID is missing in the subnet
	cabled := g.judgeLinks(b, obs, names)
	g.judgeDesign(b, obs, names)
	lid := g.judgeSM(b, obs)
	g.judgePorts(b, obs, lid)
	judgeFirmware(b, adapters)
	judgeMTU(b, adapters)
	judgeKeys(b, adapters)
	g.judgeCounters(b, obs, cabled, names)
	g.judgeDiag(b, obs, cabled, names)
	b.MergeSuspects()
	return b.Judgement(fmt.Sprintf("%d links up at %g Gb/s, one master subnet manager, error counters within their limits over %s",
		g.site.Fabric.Links, g.profile.Fabric.Rate.Value, g.site.Fabric.Soak.D()))
}
