package collective

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/firstlight/firstlight/internal/probe/efa"
	"github.com/firstlight/firstlight/internal/probe/nccl"
	"github.com/firstlight/firstlight/internal/profile"
)

const (
	remedySocket   = "on the node: ibstat (ports Active), ls /dev/infiniband in a pod (RDMA resource mounted), NCCL_IB_DISABLE unset, NCCL_IB_HCA names its devices"
	remedyGDR      = "on the node: nvidia-peermem loaded or DMA-BUF with the open driver, ACS off and IOMMU in passthrough, GPU and HCA below one PCIe switch"
	remedyHCA      = "make NCCL_IB_HCA name exactly the compute-fabric devices, and check with ibstat that each of them exists and is active"
	remedyProvider = "in a pod: fi_info -p efa must list the devices; check the resource vpc.amazonaws.com/efa of the pod, the EFA driver of the node, and that FI_PROVIDER is unset or efa"
	remedySilent   = "run with NCCL_DEBUG=INFO and keep stdout and stderr in the log"
)

// transports requires, for every channel between nodes, an allowed transport with GPUDirect
// RDMA, and on every node exactly the site's HCAs.
func (r *review) transports() {
	if len(r.f.Nodes) < 2 || len(r.f.Runs) == 0 {
		return
	}
	if r.f.NCCL.Lines == 0 {
		r.Unobserved(r.id, r.launcher(), remedySilent, "the log has no output of NCCL: its transport is unknown")
		return
	}
	if r.f.NCCL.Clipped {
		r.Unobserved(r.id, r.launcher(), remedySilent, "NCCL's output exceeds the size limit of a log")
	}
	if n := r.f.NCCL.Joined; n > 0 {
		r.Unobserved(r.id, r.launcher(), remedyRerun, "%d lines hold several lines of NCCL without a limit between them, or show the only channels of a process and have no end: their transport is unknown", n)
	}
	blamed := r.hcas()
	r.channels(blamed)
	r.gpudirect()
	r.inits()
}

// hcas requires the site's devices on every node, if NCCL names those of the fabric; it returns
// the blamed nodes.
func (r *review) hcas() map[string]bool {
	blamed := map[string]bool{}
	if r.gate.profile.Fabric.Kind == profile.EFA {
		r.providers(blamed)
	}
	if !r.gate.profile.Verbs() {
		return blamed
	}
	want := slices.Sorted(slices.Values(r.gate.hcas(r.f.Rail)))
	hosts := map[string]nccl.Host{}
	for _, h := range r.f.NCCL.Hosts {
		hosts[r.place.node(h.Name)] = h
	}
	for _, node := range r.f.Nodes {
		h := hosts[node]
		switch {
		case h.NoDevice || (len(h.HCAs) == 0 && len(h.Sockets) > 0):
			blamed[node] = true
			r.blame(node, remedySocket, "NCCL found no InfiniBand device on %s and fell back to TCP sockets%s", node, over(h.Sockets))
		case len(h.HCAs) == 0:
			r.Unobserved(r.id, node, remedySilent, "NCCL does not report its devices on %s", node)
		default:
			for _, used := range h.HCAs {
				if r.sameHCAs(node, want, used) {
					continue
				}
				blamed[node] = true
				break
			}
		}
	}
	return blamed
}

// providers requires libfabric's EFA provider: over another one, such as tcp, NCCL names the same transport.
func (r *review) providers(blamed map[string]bool) {
	for _, h := range r.f.NCCL.Hosts {
		for _, provider := range h.Providers {
			if node := r.place.node(h.Name); provider != efa.Provider {
				blamed[node] = true
				r.blame(node, remedyProvider, "libfabric uses the provider %s on %s, want %s", provider, node, efa.Provider)
			}
		}
	}
}

// viaRDMA is the part of the reason of a pass about the channels between nodes, which a run of
// one node does not have.
func (r *review) viaRDMA() string {
	switch p := r.gate.profile; {
	case len(r.f.Nodes) < 2:
		return ""
	case p.Verbs() || p.Fabric.Kind == profile.EFA:
		return ", channels between nodes on RDMA"
	default:
		return ", channels between nodes on " + strings.Join(p.Collective.Transports, ", ")
	}
}

func over(sockets []string) string {
	if len(sockets) == 0 {
		return ""
	}
	return " over " + strings.Join(sockets, ", ")
}

// sameHCAs blames each unexpected or missing device of a node.
func (r *review) sameHCAs(node string, want []string, used []nccl.HCA) bool {
	layer := map[string]string{profile.InfiniBand: "IB", profile.RoCE: "RoCE"}[r.gate.profile.Fabric.Kind]
	same := true
	var have []string
	for _, h := range used {
		have = append(have, h.Name)
		switch {
		case !slices.Contains(want, h.Name):
			same = false
			r.blame(node+"/"+h.Name, remedyHCA, "NCCL uses %s on %s, which is not a device of the compute fabric", h.Name, node)
		case layer != "" && h.Layer != layer && !strings.HasPrefix(h.Layer, layer+"/"):
			same = false
			r.blame(node+"/"+h.Name, "set the port's link type with mlxconfig", "%s on %s is %s, the fabric is %s", h.Name, node, h.Layer, layer)
		}
	}
	for _, name := range want {
		if !slices.Contains(have, name) {
			same = false
			r.blame(node+"/"+name, remedyHCA, "NCCL does not use %s on %s", name, node)
		}
	}
	return same
}

// channels judges every connection between two nodes.
func (r *review) channels(blamed map[string]bool) {
	crossing := map[string]map[string]bool{}
	crosses := func(node, way string) {
		if crossing[node] == nil {
			crossing[node] = map[string]bool{}
		}
		crossing[node][way] = true
	}
	for _, c := range r.sharp() {
		crosses(r.place.ranks[c.From], c.Direction)
	}
	bad := map[string]map[string]int{} // transport, node, channels
	other := r.otherPlugins()
	for _, c := range r.f.NCCL.Channels {
		from, to := r.place.ranks[c.From], r.place.ranks[c.To]
		if from == "" || to == "" || from == to {
			continue
		}
		direction := c.Direction
		for node, way := range map[string]string{from: "send", to: "receive"} {
			if way != direction && direction != "" {
				continue
			}
			crosses(node, way)
		}
		transport := transportOf(c, other)
		if r.allowed(transport) {
			continue
		}
		if bad[transport] == nil {
			bad[transport] = map[string]int{}
		}
		bad[transport][from] += c.Count
		bad[transport][to] += c.Count
	}
	for _, transport := range slices.Sorted(maps.Keys(bad)) {
		r.badTransport(transport, bad[transport], blamed)
	}
	if _, ok := r.oneClique(); ok { // NCCL uses NVLink multicast, and connects rings and trees when it first uses them
		return
	}
	for _, node := range r.f.Nodes {
		if !crossing[node]["send"] || !crossing[node]["receive"] {
			r.Unobserved(r.id, node, remedySilent, "NCCL shows no channel in both directions between %s and other nodes", node)
		}
	}
}

// sharp are the connections with the switches of an InfiniBand fabric, which reduce (NCCL_COLLNET_ENABLE): ranks that
// reduce by them need no channel to other nodes. NCCL connects rings and trees when it first uses them.
func (r *review) sharp() []nccl.Channel {
	if r.gate.profile.Fabric.Kind != profile.InfiniBand {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(r.f.NCCL.CollNet), func(c nccl.Channel) bool { return c.Transport != "COLLNET/SHARP" || r.place.ranks[c.From] == "" })
}

// badTransport blames the nodes with the most ends of channels over a transport that is not
// allowed, unless one of the nodes is blamed already.
func (r *review) badTransport(transport string, nodes map[string]int, blamed map[string]bool) {
	most := 0
	explained := false
	for node, n := range nodes {
		most = max(most, n)
		explained = explained || blamed[node]
	}
	if explained {
		return
	}
	for _, node := range slices.Sorted(maps.Keys(nodes)) {
		// the node at every one of these channels has the most of them
		if nodes[node] == most {
			r.blame(node, remedySocket, "%d channel ends between %s and other nodes run over %s, allowed are %s", nodes[node], node, transport, strings.Join(r.gate.profile.Collective.Transports, ", "))
		}
	}
}

var (
	// plugin matches the name of an InfiniBand transport of a plugin, such as HPC-X's NET/IBext_v8.
	plugin = regexp.MustCompile(`^NET/(?:IBext(?:_v\d+)?|` + rdmaPlugin + `$)`)
	// choice matches the implementation that the plugin of HPC-X is over InfiniBand.
	choice = regexp.MustCompile(`^IBext(?:_v\d+)?$`)
)

// rdmaPlugin is the name of the plugin of HPC-X since NCCL 2.25: it does not say which of its implementations, of
// InfiniBand or of UCX, it selected.
const rdmaPlugin = `NCCL RDMA Plugin v\d+`

var named = regexp.MustCompile(`^NET/` + rdmaPlugin + `$`)

// otherPlugins are the implementations other than InfiniBand that the plugin selected, by host.
func (r *review) otherPlugins() map[string]string {
	other := map[string]string{}
	for _, h := range r.f.NCCL.Hosts {
		for _, p := range h.Plugins {
			if !choice.MatchString(p) {
				other[h.Name] = p
			}
		}
	}
	return other
}

// transportOf is the transport of a channel. A plugin that does not name its implementation has it behind its name,
// unless that is InfiniBand.
func transportOf(c nccl.Channel, other map[string]string) string {
	if p := other[c.Host]; p != "" && named.MatchString(c.Transport) {
		return c.Transport + " (" + p + ")"
	}
	return c.Transport
}

func (r *review) allowed(transport string) bool {
	transport = plugin.ReplaceAllString(transport, "NET/IB")
	return slices.ContainsFunc(r.gate.profile.Collective.Transports, func(t string) bool {
		return transport == t || strings.HasPrefix(transport, t+"/")
	})
}

// connected reports whether a rank has printed one of its channels.
func (r *review) connected(rank int) bool {
	return slices.ContainsFunc(r.f.NCCL.Channels, func(c nccl.Channel) bool {
		return (c.From == rank || c.To == rank) && r.place.node(c.Host) == r.place.ranks[rank]
	})
}

// inits requires that every rank finished initialising in every repetition. If mpirun cut lines, one repetition or a channel
// shows that the log has the output of the rank.
func (r *review) inits() {
	seen := map[int]int{}
	for _, rank := range r.f.NCCL.Ranks {
		seen[rank.Rank] += rank.Inits
	}
	for rank := range r.expectedRanks() {
		if seen[rank] < len(r.f.Runs) && (r.f.NCCL.Cut == 0 || seen[rank] == 0 && !r.connected(rank)) {
			r.Unobserved(r.id, fmt.Sprintf("rank %d", rank), remedySilent, "rank %d on %s finished initialising %d times in %d repetitions", rank, r.place.ranks[rank], seen[rank], len(r.f.Runs))
			return
		}
	}
}
