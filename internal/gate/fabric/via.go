package fabric

import (
	"context"
	"slices"
	"strconv"

	"github.com/firstlight/firstlight/internal/probe/infiniband"
	"github.com/firstlight/firstlight/internal/site"
)

// firstDevice is the device whose port the tools of the fabric take, if it is active: they take the first one by name.
const firstDevice = "mlx5_0"

// viaPorts are the port of the subnet, or those of fabric.hcas if the first is not the first device of the host: an
// earlier one may be on a storage network.
func (g *Gate) viaPorts() []site.Via {
	if v := g.site.Fabric.Via; v.HCA != "" {
		return []site.Via{v}
	}
	hcas := g.site.Fabric.HCAs
	if len(hcas) == 0 || hcas[0] == firstDevice || !slices.Contains(g.site.NodeNames(), g.site.Reach.SSH.FabricHost) {
		return []site.Via{{}} // a host of other nodes may have other adapters
	}
	var out []site.Via
	for _, hca := range hcas {
		out = append(out, site.Via{HCA: hca, Port: firstPort})
	}
	return out
}

// viaOf is the port for the tools on a host: the first of via that is active, or else the first whose link is up, which
// has no subnet manager. ibstat needs no port of the fabric. The host's adapters are judged by the recorded ibstat.
func (g *Gate) viaOf(ctx context.Context, host string) site.Via {
	if len(g.via) == 1 {
		return g.via[0]
	}
	out, err := g.deps.Hosts.Run(ctx, host, g.commands(site.Via{})[kindPorts].argv...)
	if err != nil {
		return g.via[0] // the tools report it
	}
	adapters, err := infiniband.ParseStat(out.Stdout)
	if err != nil {
		return g.via[0]
	}
	active, linked := map[site.Via]bool{}, map[site.Via]bool{}
	for _, a := range adapters {
		for _, p := range a.Ports {
			v := site.Via{HCA: a.Name, Port: p.Number}
			active[v], linked[v] = p.Up(), p.PhysicalState == infiniband.PhysicalLinkUp
		}
	}
	for _, ports := range []map[site.Via]bool{active, linked} {
		if i := slices.IndexFunc(g.via, func(v site.Via) bool { return ports[v] }); i >= 0 {
			return g.via[i]
		}
	}
	return g.via[0]
}

// viaOptions are the options of infiniband-diags and of ibdiagnet for the port by which the host sees the
// subnet; none if the tools choose it.
func viaOptions(v site.Via) (diags, ibdiagnet []string) {
	if v.HCA == "" {
		return nil, nil
	}
	port := strconv.Itoa(v.Port)
	return []string{"-C", v.HCA, "-P", port}, []string{"-i", v.HCA, "-p", port}
}
