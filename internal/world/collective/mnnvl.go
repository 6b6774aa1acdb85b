package collective

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"strings"
)

// clique is the partition of a rack's NVLink switches that hosts report (32766), in NCCL's notation.
const clique = "7ffe"

// mnnvl reports whether NCCL uses NVLink between this node and others of its NVLink domain: by default
// (NCCL_MNNVL_ENABLE=2) if the communicator has several nodes.
func (r Run) mnnvl(n Node) bool { return len(r.Nodes) > 1 && n.Cluster != "" && !n.MNNVLOff }

// joined reports whether NVLink carries the data between two nodes.
func (r Run) joined(a, b Node) bool { return r.mnnvl(a) && r.mnnvl(b) && a.Cluster == b.Cluster }

// fellBack reports whether nodes with NVLink between them use the network.
func (r Run) fellBack() bool {
	for _, n := range r.Nodes {
		if len(r.Nodes) > 1 && n.Cluster != "" && n.MNNVLOff {
			return true
		}
	}
	return false
}

// writeMNNVL prints the NVLink fabric of the rank's GPU, and its clique if it has one: src/init.cc and src/mnnvl.cc of
// NVIDIA/nccl.
func (r Run) writeMNNVL(p *printer, k rank, all []rank, handle uint64) {
	n := r.Nodes[k.node]
	if n.Cluster != "" {
		p.line("%s MNNVL busId 0x%s fabric UUID %s cliqueId 0x%s state 3 healthMask 0xaa", k.prefix, longBusID(k.device.BusID), halves(n.Cluster), clique)
	}
	if n.MNNVLOff {
		p.line("%s NCCL_MNNVL_ENABLE set by environment to 0.", k.prefix)
	}
	nodes, size, local, used := len(r.Nodes), len(n.Devices), k.local, 0
	if r.mnnvl(n) {
		position := 0
		nodes, size, used = r.groups(), 0, 1
		for _, o := range all {
			if !r.joined(n, r.Nodes[o.node]) {
				continue
			}
			size++
			if o.n < k.n {
				position++
			}
		}
		local = position
		p.line("%s MNNVL 1 cliqueId %s cliqueSize %d cliqueRank %d", k.prefix, clique, size, position)
	}
	p.line("%s comm %#x rank %d nRanks %d nNodes %d localRanks %d localRank %d MNNVL %d", k.prefix, handle, k.n, len(all), nodes, size, local, used)
}

// groups is the number of nodes that NCCL counts: a clique is one.
func (r Run) groups() int {
	n, seen := 0, map[string]bool{}
	for _, node := range r.Nodes {
		if !r.mnnvl(node) {
			n++
			continue
		}
		seen[node.Cluster] = true
	}
	return n + len(seen)
}

// halves is a UUID as NCCL prints it (%lx.%lx): its two halves as little-endian numbers.
func halves(uuid string) string {
	b, err := hex.DecodeString(strings.ReplaceAll(uuid, "-", ""))
	if err != nil || len(b) != 16 {
		return "0.0"
	}
	return fmt.Sprintf("%x.%x", binary.LittleEndian.Uint64(b[:8]), binary.LittleEndian.Uint64(b[8:]))
}
