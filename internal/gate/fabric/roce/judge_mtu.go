package roce

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/gate/fabric/uniform"
	"github.com/firstlight/firstlight/internal/probe/infiniband"
	"github.com/firstlight/firstlight/internal/probe/roce"
)

const remedyMTU = "set the MTU of the network device (ip link set NETDEV mtu 9000, and in its persistent configuration) and of the switch ports, then run again: firstlight accept --from fabric"

// judgeMTU requires the profile's RDMA MTU on every port, a network device with room for it and its
// headers, and one MTU on all network devices: packets of a larger one are dropped on the way.
func (g *Gate) judgeMTU(b *check.Builder, views []view) {
	var samples []uniform.Sample
	for _, v := range views {
		if v.netdev != "" && v.host.readable[kindLinks] {
			samples = append(samples, g.netdevMTU(b, v)...)
		}
		if v.host.readable[kindVerbs] && v.device.State == roce.StateActive {
			g.activeMTU(b, v)
		}
	}
	uniform.Require(b, samples, "network device MTU", "ports", remedyMTU)
}

// netdevMTU judges the network device, and returns the sample of one whose MTU is large enough.
func (g *Gate) netdevMTU(b *check.Builder, v view) []uniform.Sample {
	l, _ := v.link()
	least := g.profile.Fabric.RoCE.NetdevMTU.Value
	switch {
	case l.MTU == 0:
		b.Unobserved(v.id(kindLinks), v.name, remedyDevice, "ip addr shows no MTU of %s, the network device of %s", v.netdev, v.name)
	case float64(l.MTU) < least:
		b.Fail(v.id(kindLinks), v.name, remedyMTU, "%s, the network device of %s, has an MTU of %d, an RDMA MTU of %g needs %g", v.netdev, v.name, l.MTU, g.profile.Fabric.RoCE.MTU.Value, least)
	default:
		return []uniform.Sample{{Adapter: v.name, Value: strconv.Itoa(l.MTU) + " bytes", Observation: v.host.ids[kindLinks]}}
	}
	return nil
}

func (g *Gate) activeMTU(b *check.Builder, v view) {
	want := g.profile.Fabric.RoCE.MTU.Value
	mtu, err := v.activeMTU()
	switch {
	case err != nil:
		b.Unobserved(v.id(kindVerbs), v.name, "install ibv_devinfo (ibverbs-utils, or the vendor's drivers), then run again: firstlight accept --from fabric", "%v", err)
	case float64(mtu) != want:
		b.Fail(v.id(kindVerbs), v.name, remedyMTU, "%s has an active RDMA MTU of %d, want %g", v.name, mtu, want)
	}
}

// link is the view's network device.
func (v view) link() (roce.Link, bool) {
	i := slices.IndexFunc(v.host.links, func(l roce.Link) bool { return l.Name == v.netdev })
	if i < 0 {
		return roce.Link{}, false
	}
	return v.host.links[i], true
}

// activeMTU is the RDMA MTU of port 1 in bytes.
func (v view) activeMTU() (int, error) {
	for _, d := range v.host.verbs {
		for _, p := range d.Ports {
			if d.Name == v.hca && p.Number == 1 && p.State == infiniband.DevStateActive && p.ActiveMTU > 0 {
				return p.ActiveMTU, nil
			}
		}
	}
	return 0, fmt.Errorf("ibv_devinfo shows no active port 1 with an MTU of %s", v.name)
}
