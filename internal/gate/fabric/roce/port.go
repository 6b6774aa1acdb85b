package roce

import (
	"slices"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/probe/infiniband"
	"github.com/firstlight/firstlight/internal/probe/roce"
)

const (
	remedySSH    = "make the host reachable and its tools runnable, then run again: firstlight accept --from fabric"
	remedyDevice = "look at the adapter on the host (ibv_devinfo, rdma link, dmesg) and its driver, then run again: firstlight accept --from fabric"
)

// host has the observations of a node.
type host struct {
	name    string
	devices []roce.Device
	links   []roce.Link
	verbs   []infiniband.Device
	qos     map[string]roce.QoS
	// ids are the observations by kind; readable those whose figures could be decoded.
	ids      map[string]check.Observation
	readable map[string]bool
	// reported: b has a finding about the readings of its counters.
	reported bool
}

// view is what a host shows of one HCA of the site.
type view struct {
	name   string // "gpu-02/mlx5_3"
	hca    string
	host   *host
	device roce.Device
	netdev string
}

// hosts decodes the observations of each node. A kind that is missing, or was not readable, is
// reported once for the host.
func (g *Gate) hosts(b *check.Builder, obs []check.Observation) []*host {
	var out []*host
	for _, n := range g.site.Inventory.Nodes {
		h := &host{name: n.Name, ids: map[string]check.Observation{}, readable: map[string]bool{}}
		decode(b, h, obs, kindDevices, &h.devices)
		decode(b, h, obs, kindLinks, &h.links)
		decode(b, h, obs, kindVerbs, &h.verbs)
		if g.classified() && slices.ContainsFunc(h.devices, func(d roce.Device) bool { return netdevOf(d) != "" }) {
			decode(b, h, obs, kindQoS, &h.qos)
		}
		out = append(out, h)
	}
	return out
}

func decode[T any](b *check.Builder, h *host, obs []check.Observation, kind string, into *T) {
	*into, h.ids[kind], h.readable[kind] = check.Require[T](b, obs, kind, h.name, h.name, remedySSH)
}

// views are the HCAs of the site that hosts have, by node. An HCA that a host lacks, or whose network
// device is unknown, is reported.
func (g *Gate) views(b *check.Builder, hosts []*host) []view {
	var out []view
	for _, h := range hosts {
		if !h.readable[kindDevices] {
			continue
		}
		id := h.ids[kindDevices].ID
		for _, hca := range g.site.Fabric.HCAs {
			v := view{name: h.name + "/" + hca, hca: hca, host: h}
			i := slices.IndexFunc(h.devices, func(d roce.Device) bool { return d.Name == hca })
			if i < 0 {
				b.Fail(id, v.name, "check that the adapter is seated and its driver loaded (lspci, dmesg)", "%s has no RDMA device %s", h.name, hca)
				continue
			}
			v.device = h.devices[i]
			if v.netdev = netdevOf(v.device); v.netdev == "" {
				b.Unobserved(id, v.name, remedyDevice, "%s has %d network devices, and its GID table names none or several of them", v.name, len(v.device.Netdevs))
			}
			out = append(out, v)
		}
	}
	return out
}

// id is the observation of a kind of the view's host.
func (v view) id(kind string) string { return v.host.ids[kind].ID }
