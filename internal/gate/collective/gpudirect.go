package collective

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/firstlight/firstlight/internal/probe/nccl"
)

// gpudirect requires GDRDMA on every network channel between nodes. A channel is printed by the
// rank whose HCA reads or writes the memory.
func (r *review) gpudirect() {
	if !r.gate.profile.Collective.GPUDirect {
		return
	}
	without := map[string]map[string]bool{} // node, HCA
	channels := map[string]int{}
	staged := func(c nccl.Channel) {
		node := r.place.node(c.Host)
		if without[node] == nil {
			without[node] = map[string]bool{}
		}
		without[node][r.hcaName(c)] = true
		channels[node] += c.Count
	}
	for _, c := range r.sharp() {
		if !c.GDR {
			staged(c)
		}
	}
	other := r.otherPlugins()
	for _, c := range r.f.NCCL.Channels {
		from, to := r.place.ranks[c.From], r.place.ranks[c.To]
		if !c.GDR && from != to && strings.HasPrefix(c.Transport, "NET/") && r.allowed(transportOf(c, other)) {
			staged(c)
		}
	}
	for _, node := range slices.Sorted(maps.Keys(without)) {
		hcas := slices.Sorted(maps.Keys(without[node]))
		suspect := node
		if len(hcas) == 1 && len(r.gate.site.Fabric.HCAs) > 1 {
			suspect = node + "/" + hcas[0]
		}
		r.blame(suspect, remedyGDR, "%d channels of %s run over %s without GPUDirect RDMA", channels[node], node, list(hcas))
	}
	r.rings(without)
}

// rings blames a node whose ranks print "GDR 0" although its channels are correct.
func (r *review) rings(known map[string]map[string]bool) {
	off := map[string]int{}
	for _, rank := range r.f.NCCL.Ranks {
		if rank.RingGDR != nil && !*rank.RingGDR {
			off[r.place.node(rank.Host)]++
		}
	}
	for _, node := range slices.Sorted(maps.Keys(off)) {
		if known[node] == nil && !r.socketNode(node) {
			r.blame(node, remedyGDR, "%d ranks of %s report rings without GPUDirect RDMA (GDR 0)", off[node], node)
		}
	}
}

// socketNode reports whether a node's network is TCP, which has no GPUDirect.
func (r *review) socketNode(node string) bool {
	return slices.ContainsFunc(r.f.NCCL.Hosts, func(h nccl.Host) bool {
		return r.place.node(h.Name) == node && (h.NoDevice || len(h.HCAs) == 0)
	})
}

// hcaName is the name of a channel's device on the host that printed it.
func (r *review) hcaName(c nccl.Channel) string {
	for _, h := range r.f.NCCL.Hosts {
		if h.Name != c.Host {
			continue
		}
		for _, used := range h.HCAs {
			for _, hca := range used {
				if hca.Index == c.Device {
					return hca.Name
				}
			}
		}
	}
	return fmt.Sprintf("device %d", c.Device)
}

const remedyNVLS = "on the node: systemctl status nvidia-fabricmanager (active, same version as the driver), nvidia-smi nvlink -s (all links up); then reset the GPUs"

// nvls requires NVLink SHARP on every GPU.
func (r *review) nvls() {
	if !r.gate.profile.Collective.NVLS || len(r.f.Runs) == 0 {
		return
	}
	type count struct{ lost, seen int }
	by := map[string]count{}
	for _, rank := range r.f.NCCL.Ranks {
		if rank.NVLS == nil {
			continue
		}
		node := r.place.node(rank.Host)
		c := by[node]
		c.seen++
		if !*rank.NVLS {
			c.lost++
		}
		by[node] = c
	}
	failed := r.nvlsFailed()
	for _, node := range r.f.Nodes {
		switch c := by[node]; {
		case failed[node] != "":
			r.blame(node, remedyNVLS, "NVLS fails on %s: %s", node, failed[node])
		case c.lost > 0:
			r.blame(node, remedyNVLS, "NVLS multicast is not available on %d of %d GPUs of %s", c.lost, c.seen, node)
		case c.seen < r.f.GPUsPerNode:
			r.Unobserved(r.id, node, remedySilent, "NCCL reports for only %d of %d GPUs of %s whether NVLS is available", c.seen, r.f.GPUsPerNode, node)
		}
	}
}

// nvlsSource matches a file of NCCL that sets up NVLS: transport/nvls.cc, and since 2.31 transport/multicast.cc. Builds
// by CMake print the directory before it (NVIDIA/nccl issue 2332: nccl/src/register/register.cc).
var nvlsSource = regexp.MustCompile(`(?:^|/)transport/(?:nvls|multicast)\.cc:`)

// nvlsFailed is the first warning of NVLS by node: NCCL reports that it is available before it sets it up.
func (r *review) nvlsFailed() map[string]string {
	failed := map[string]string{}
	for _, w := range r.f.NCCL.Warnings {
		if node := r.place.node(w.Host); nvlsSource.MatchString(w.Source) && failed[node] == "" {
			failed[node] = w.Text + " (" + w.Source + ")"
		}
	}
	return failed
}
