package world

import (
	"cmp"
	"fmt"
	"math/rand/v2"

	"github.com/firstlight/firstlight/internal/world/fabric"
)

// buildFabric returns the compute fabric; empty for hardware without one.
func buildFabric(spec Spec, hw Hardware) (fabric.Topology, error) {
	if hw.Node.HCAs == 0 {
		return fabric.Topology{}, nil
	}
	var hosts []string
	for _, n := range spec.GPUNodes {
		hosts = append(hosts, n.Name)
	}
	return fabric.Build(fabric.Shape{
		Seed: spec.Seed, Nodes: hosts, HCAs: spec.HCAs, Spines: spec.Spines,
		NodesSU: hw.Fabric.NodesPerLeaf, Ports: hw.Fabric.SwitchPorts,
		Lane: hw.Fabric.Lane, Width: hw.Fabric.Width,
		Firmware: hw.Fabric.Firmware, MTU: hw.Fabric.MTU, PKeys: hw.Fabric.PKeys, BusIDs: hw.Fabric.BusIDs,
	})
}

// buildNodes returns idle, healthy hosts.
func buildNodes(spec Spec, hw Hardware, topo fabric.Topology) []Node {
	rng := rand.New(rand.NewPCG(spec.Seed, 0x6b)) //nolint:gosec // simulation, not secrets
	major := cmp.Or(spec.DCGMMajor, 4)
	var nodes []Node
	for i, n := range spec.GPUNodes {
		node := Node{
			Name: n.Name, Address: n.Address, Rack: n.Rack, Index: i,
			Driver: hw.Software.Driver, CUDA: hw.Software.CUDA, VBIOS: hw.Software.VBIOS, DCGMMajor: major,
			RDMACount: len(spec.HCAs), StepFactor: 1, Transport: TransportIB, GPUDirect: true, NVLS: hw.GPU.NVLinks > 0,
			Exporter: Exporter{HostLabel: "Hostname"},
			LoginTo:  n.Name, MemoryGiB: hw.Node.MemoryGiB, HugePages: hw.Node.HugePages, Governor: hw.Node.Governor,
		}
		if hw.Node.HCAs == 0 {
			node.Transport, node.GPUDirect = TransportSocket, false
		}
		for g := range hw.Node.GPUs {
			node.GPUs = append(node.GPUs, buildGPU(hw, rng, g))
		}
		for _, h := range topo.HCAs {
			if h.Node == n.Name {
				node.HCAs = append(node.HCAs, h)
				node.HCALinks = append(node.HCALinks, PCIeLink{GTs: hw.Fabric.PCIeGTs, Width: hw.Fabric.PCIeWidth})
			}
		}
		nodes = append(nodes, node)
	}
	for i, n := range spec.SystemNodes {
		nodes = append(nodes, Node{Name: n.Name, Address: n.Address, Rack: n.Rack, System: true, Index: i, StepFactor: 1, LoginTo: n.Name})
	}
	return nodes
}

func buildGPU(hw Hardware, rng *rand.Rand, index int) GPU {
	g := GPU{
		Index:   index,
		UUID:    fmt.Sprintf("GPU-%08x-%04x-%04x-%04x-%012x", rng.Uint32(), rng.Uint32()&0xffff, rng.Uint32()&0xffff, rng.Uint32()&0xffff, rng.Uint64()&0xffffffffffff),
		Serial:  fmt.Sprintf("16%011d", rng.Uint64()%100_000_000_000),
		BusID:   hw.GPU.BusIDs[index%len(hw.GPU.BusIDs)],
		Present: true, VBIOS: hw.Software.VBIOS, ECCMode: true,
		MaxSMClock: hw.GPU.MaxSMClock, AppSMClock: hw.GPU.MaxSMClock, MemClock: hw.GPU.MemClock,
		PowerLimit: hw.GPU.TDPWatts, Speed: 1, PCIeGen: hw.GPU.PCIeGen, PCIeWidth: hw.GPU.PCIeWidth, Socket: index * hw.Node.Sockets / hw.Node.GPUs,
	}
	g.NVLinkUp = make([]bool, hw.GPU.NVLinks)
	for i := range g.NVLinkUp {
		g.NVLinkUp[i] = true
	}
	return g
}
