package collective

import (
	"fmt"
	"strings"
)

// channels is NCCL's number of rings.
const channels = 16

// rank is one process of the run with the prefix of its lines.
type rank struct {
	n      int // global rank
	node   int
	local  int
	prefix string
	device Device
}

func (r Run) ranks() []rank {
	var out []rank
	for i, n := range r.Nodes {
		for l, d := range n.Devices {
			pid := r.pid(i, d.Index)
			out = append(out, rank{
				n: len(out), node: i, local: l, device: d,
				prefix: fmt.Sprintf("%s:%d:%d [%d] NCCL INFO", n.Host, pid, r.thread(pid, l), l),
			})
		}
	}
	return out
}

// writeDebug prints the NCCL_DEBUG=INFO lines of the set-up, rank by rank.
func (r Run) writeDebug(p *printer, rep int) {
	rng := r.rand(rep, 2)
	comm := 0x55d000000000 + rng.Uint64N(1<<32)
	handle := func(k rank) uint64 { return comm + uint64(k.n)<<12 } //nolint:gosec // ranks count from zero
	commID := rng.Uint64()
	all := r.ranks()
	for i, k := range all {
		if i == 0 {
			p.line("%s Bootstrap : Using eth0:%s<0>", k.prefix, r.Nodes[0].Address)
			p.line("%s cudaDriverVersion %s", k.prefix, driverVersion(r.CUDA))
			p.line("%s NCCL version %s+cuda%s", k.prefix, ncclVersion, r.CUDA)
		}
		r.writeNetwork(p, k)
		r.writeMNNVL(p, k, all, handle(k))
		r.writeNVLS(p, k)
	}
	for _, k := range all {
		r.writeChannels(p, k, all)
		p.line("%s Connected all rings, use ring PXN 0 GDR %d", k.prefix, r.gdr(r.Nodes[k.node]))
		p.line("%s Connected all trees", k.prefix)
		if len(r.Nodes) > 1 && r.Nodes[k.node].NVLS {
			p.line("%s Connected NVLS tree", k.prefix)
		}
	}
	init := "ncclCommInitRank"
	if r.OneProcess { // the threads of one process: as in NVIDIA/nccl's issues with 2.25 and 2.27
		init = "ncclCommInitAll"
	}
	for _, k := range all {
		p.line("%s %s comm %#x rank %d nranks %d cudaDev %d nvmlDev %d busId %s commId %#x - Init COMPLETE",
			k.prefix, init, handle(k), k.n, len(all), k.local, k.device.Index, longBusID(k.device.BusID), commID)
	}
}

// thread is the thread that prints for a rank.
func (r Run) thread(pid, local int) int {
	if r.OneProcess {
		return pid + 9 + local
	}
	return pid + 9
}

// peer is the transport between GPUs of a node: within a process, pointers need no handles.
func (r Run) peer(n Node) string {
	switch {
	case r.OneProcess:
		return "P2P/direct pointer/read"
	case r.mnnvl(n):
		return overMNNVL
	default:
		return "P2P/CUMEM/read"
	}
}

// overMNNVL is the transport of every peer of a communicator that uses NVLink between nodes; the receiver prints
// nothing.
const overMNNVL = "P2P/MNNVL"

// writeNetwork prints the rank's network and whether the HCAs reach its GPU.
func (r Run) writeNetwork(p *printer, k rank) {
	n := r.Nodes[k.node]
	if r.HCASelection != "" {
		p.line("%s NCCL_IB_HCA set to %s", k.prefix, r.HCASelection)
	}
	ports := r.hcas(n)
	if len(ports) == 0 {
		p.line("%s NET/IB : No device found.", k.prefix)
		p.line("%s NET/Socket : Using [0]eth0:%s<0>", k.prefix, n.Address)
		p.line("%s Using network Socket", k.prefix)
		return
	}
	if r.Fabric.EFA != nil {
		p.line("%s NET/OFI Initializing aws-ofi-nccl 1.16.3", k.prefix)
		p.line("%s NET/OFI Selected provider is efa, fabric is efa-direct (found %d nics)", k.prefix, len(ports))
		p.line("%s Using network AWS Libfabric", k.prefix)
		return
	}
	layer := "IB"
	if r.Fabric.Ethernet != nil {
		layer = "RoCE"
	}
	var using strings.Builder
	for i, h := range ports {
		fmt.Fprintf(&using, " [%d]%s:1/%s", i, h.Name, layer)
	}
	p.line("%s NET/IB : Using%s [RO]; OOB eth0:%s<0>", k.prefix, using.String(), n.Address)
	p.line("%s Using network IB", k.prefix)
	state := "Enabled"
	if !n.GPUDirect {
		state = "Disabled"
	}
	for i, h := range ports {
		p.line("%s NET/IB : GPU Direct RDMA %s for HCA %d '%s'", k.prefix, state, i, h.Name)
	}
	if n.GPUDirect {
		p.line("%s DMA-BUF is available on GPU device %d", k.prefix, k.local)
	}
}

func (r Run) writeNVLS(p *printer, k rank) {
	is := ""
	if !r.Nodes[k.node].NVLS {
		is = "not "
	}
	p.line("%s NVLS multicast support is %savailable on dev %d", k.prefix, is, k.local)
}

// writeChannels prints the rank's part of every ring: the peers within its node and, for the rank
// on the channel's rail, the connections to the next and from the previous node.
func (r Run) writeChannels(p *printer, k rank, all []rank) {
	n := r.Nodes[k.node]
	local := len(n.Devices)
	first := k.n - k.local
	for c := range channels {
		if k.n == 0 {
			p.line("%s Channel %02d/%02d : %s", k.prefix, c, channels, ringOrder(all, c))
		}
		if local > 1 {
			peer := all[first+(k.local+1)%local]
			p.line("%s Channel %02d/0 : %d[%d] -> %d[%d] via %s", k.prefix, c, k.n, k.local, peer.n, peer.local, r.peer(n))
		}
		if len(r.Nodes) > 1 && c%local == k.local {
			before, after := r.across(all, k, -1), r.across(all, k, +1)
			if !r.joined(r.Nodes[before.node], n) {
				p.line("%s Channel %02d/0 : %d[%d] -> %d[%d] [receive] via %s", k.prefix, c, before.n, before.local, k.n, k.local, r.via(k, before))
			}
			if r.joined(n, r.Nodes[after.node]) {
				p.line("%s Channel %02d/0 : %d[%d] -> %d[%d] via %s", k.prefix, c, k.n, k.local, after.n, after.local, overMNNVL)
				continue
			}
			p.line("%s Channel %02d/0 : %d[%d] -> %d[%d] [send] via %s", k.prefix, c, k.n, k.local, after.n, after.local, r.via(k, after))
		}
	}
}

// across returns the rank on the same rail of the next or previous node.
func (r Run) across(all []rank, k rank, step int) rank {
	node := (k.node + step + len(r.Nodes)) % len(r.Nodes)
	best := all[0]
	for _, o := range all {
		if o.node == node && o.local <= k.local {
			best = o
		}
	}
	return best
}

// via is the transport between ranks of different nodes, as rank k prints it.
func (r Run) via(k, peer rank) string {
	here, there := r.Nodes[k.node], r.Nodes[peer.node]
	ports := r.hcas(here)
	if len(ports) == 0 || len(r.hcas(there)) == 0 {
		return "NET/Socket/0"
	}
	network := "IB"
	if r.Fabric.EFA != nil {
		network = "AWS Libfabric"
	}
	via := fmt.Sprintf("NET/%s/%d", network, k.local%len(ports))
	if r.gdr(here) == 1 {
		via += "/GDRDMA"
	}
	return via
}

// gdr is 1 if the HCAs use GPUDirect RDMA.
func (r Run) gdr(n Node) int {
	if n.GPUDirect && len(r.hcas(n)) > 0 {
		return 1
	}
	return 0
}

func ringOrder(all []rank, channel int) string {
	order := make([]string, 0, len(all))
	for i := 0; i < len(all); {
		local := i
		for local < len(all) && all[local].node == all[i].node {
			local++
		}
		size := local - i
		for j := range size {
			order = append(order, fmt.Sprintf("%2d", i+(j+channel)%size))
		}
		i = local
	}
	return strings.Join(order, " ")
}
