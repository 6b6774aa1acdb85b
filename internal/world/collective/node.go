package collective

import (
	"slices"

	"github.com/firstlight/firstlight/internal/world"
)

// NodeOf returns a host's properties for NCCL with one rank on each of these GPUs.
func NodeOf(state world.State, host world.Node, gpus []int) Node {
	n := Node{
		Host: host.Name, GPUDirect: host.GPUDirect, Slow: host.StepFactor,
		Cluster: host.NVLinkCluster, MNNVLOff: host.MNNVLOff,
		NVLS: host.NVLS && host.NVLinkFraction() == 1, Socket: host.Transport == world.TransportSocket,
	}
	for _, g := range host.GPUs {
		if slices.Contains(gpus, g.Index) {
			n.Devices = append(n.Devices, Device{Index: g.Index, BusID: g.BusID, Product: host.Hardware.GPU.Product})
		}
	}
	for _, h := range host.HCAs {
		rate := h.Rate
		if link, ok := state.HCALink(host.Name, h.Name); ok {
			rate = min(rate, link.Rate())
		}
		n.HCAs = append(n.HCAs, HCA{Name: h.Name, Gbps: rate, Part: state.Collective.Rails[h.Name]})
	}
	return n
}
