package roce

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/gate/fabric/uniform"
	"github.com/firstlight/firstlight/internal/probe/roce"
)

const remedyGID = "give the network device its address and bring it up before RDMA starts (ip addr, show_gids); then run again: firstlight accept --from fabric"

// judgeGIDs requires that every port has a GID of RoCE v2 with an address of its network device, or of
// a VLAN on it: peers address the port by it.
func judgeGIDs(b *check.Builder, views []view) {
	owners := map[string]view{} // by address
	for _, v := range views {
		if _, ok := v.link(); !ok {
			continue // reported for the port or the host
		}
		addresses := v.addresses()
		if len(addresses) == 0 {
			b.Fail(v.id(kindLinks), v.name, remedyGID, "%s, the network device of %s, has no IP address", v.netdev, v.name)
			continue
		}
		for _, address := range addresses {
			if other, twice := owners[address]; twice && other.name != v.name {
				b.Fail(v.id(kindLinks), v.name, "give each port an address of its own, then run again: firstlight accept --from fabric", "%s has the address %s, which %s has too", v.name, address, other.name)
			}
			owners[address] = v
		}
		if !slices.ContainsFunc(v.device.GIDs, func(g roce.GID) bool { return g.Type == roce.V2 && slices.Contains(addresses, g.Address) }) {
			b.Fail(v.id(kindDevices), v.name, remedyGID, "%s has no GID of %s with an address of %s (%s): its table has %s", v.name, roce.V2, v.netdev, strings.Join(addresses, ", "), gidList(v.device.GIDs))
		}
	}
}

// addresses are those of the view's network device and of the VLANs on it that its GID table names.
func (v view) addresses() []string {
	var out []string
	for _, l := range v.host.links {
		if l.Name == v.netdev || slices.ContainsFunc(v.device.GIDs, func(g roce.GID) bool { return g.Netdev == l.Name }) {
			out = append(out, l.Addresses...)
		}
	}
	return out
}

func gidList(gids []roce.GID) string {
	var out []string
	for _, g := range gids {
		out = append(out, fmt.Sprintf("%s (%s)", g.Address, cmp.Or(g.Type, "no type")))
	}
	return cmp.Or(strings.Join(uniform.Head(out), ", "), "no entry")
}
