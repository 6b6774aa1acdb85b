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
	ethernet := hw.Fabric.Ethernet != nil
	if ethernet || hw.Fabric.EFA != nil {
		spec.Spines = max(1, spec.Spines) // the site of such a fabric lists no switches
	}
	topo, err := fabric.Build(fabric.Shape{
		Seed: spec.Seed, Nodes: hosts, HCAs: spec.HCAs, Spines: spec.Spines,
		NodesSU: hw.Fabric.NodesPerLeaf, Ports: hw.Fabric.SwitchPorts,
		Lane: hw.Fabric.Lane, Width: hw.Fabric.Width,
		Firmware: hw.Fabric.Firmware, MTU: hw.Fabric.MTU, PKeys: hw.Fabric.PKeys, BusIDs: hw.Fabric.BusIDs,
	})
	if err != nil || !ethernet && hw.Fabric.EFA == nil {
		return topo, err
	}
	topo.SMs = nil
	for i := range topo.HCAs {
		h := &topo.HCAs[i]
		h.LID, h.SMLID, h.PKeys = 0, 0, nil
		if !ethernet {
			continue
		}
		h.Ethernet = ethernetOf(*hw.Fabric.Ethernet, *h, i/len(spec.HCAs))
	}
	return topo, nil
}

// ethernetOf is the port of an adapter of the node with a number.
func ethernetOf(hw HardwareEthernet, h fabric.HCA, node int) fabric.Ethernet {
	e := fabric.Ethernet{MTU: hw.MTU, TrustDSCP: true, Address: fmt.Sprintf("10.%d.%d.%d", 100+h.Rail, node/250, node%250+1)}
	var bus int
	if _, err := fmt.Sscanf(h.BusID, "0000:%x:00.0", &bus); err == nil {
		e.Netdev = fmt.Sprintf("enp%ds0np0", bus)
	} else {
		e.Netdev = fmt.Sprintf("enp%ds0np0", h.Rail+1)
	}
	e.PFC[hw.Priority] = true
	for i := range e.ECN {
		e.ECN[i] = true
	}
	return e
}

// buildNodes returns idle, healthy hosts. All have the operating system of hw.
func buildNodes(spec Spec, hw Hardware, topo fabric.Topology) ([]Node, error) {
	rng := rand.New(rand.NewPCG(spec.Seed, 0x6b)) //nolint:gosec // simulation, not secrets
	major := cmp.Or(spec.DCGMMajor, 4)
	var nodes []Node
	usual := hw
	usualOS, err := loadOS(usual.Software.OS)
	if err != nil {
		return nil, err
	}
	hcas := map[string][]fabric.HCA{}
	for _, h := range topo.HCAs {
		hcas[h.Node] = append(hcas[h.Node], h)
	}
	for i, n := range spec.GPUNodes {
		hw := usual
		if n.Hardware != "" {
			if hw, err = LoadHardware(n.Hardware); err != nil {
				return nil, fmt.Errorf("node %s: %w", n.Name, err)
			}
		}
		node := Node{
			Name: n.Name, Address: n.Address, Rack: n.Rack, Index: i, Hardware: hw, OS: usualOS,
			Driver: hw.Software.Driver, CUDA: hw.Software.CUDA, VBIOS: hw.Software.VBIOS, DCGMMajor: major,
			RDMACount: len(spec.HCAs), StepFactor: 1, Transport: TransportIB, GPUDirect: true, NVLS: hw.GPU.NVLinks > 0, FabricManager: fabricManagerOf(hw), IMEX: imexOf(hw), NVLinkCluster: nvlinkCluster(spec, hw, n.Rack),
			Exporter: Exporter{HostLabel: "Hostname"}, EFADriver: efaDriver(hw),
			LoginTo: n.Name, MemoryGiB: hw.Node.MemoryGiB, HugePages: hw.Node.HugePages, Governor: hw.Node.Governor, IOMMU: iommuOf(hw),
		}
		if hw.Node.HCAs == 0 {
			node.Transport, node.GPUDirect = TransportSocket, false
		}
		for g := range hw.Node.GPUs {
			node.GPUs = append(node.GPUs, buildGPU(hw, rng, g))
		}
		for _, h := range hcas[n.Name] {
			node.HCAs = append(node.HCAs, h)
			node.HCALinks = append(node.HCALinks, PCIeLink{GTs: hw.Fabric.PCIeGTs, Width: hw.Fabric.PCIeWidth})
		}
		nodes = append(nodes, node)
	}
	for i, n := range spec.SystemNodes {
		nodes = append(nodes, Node{Name: n.Name, Address: n.Address, Rack: n.Rack, System: true, Index: i, Hardware: usual, OS: usualOS, StepFactor: 1, LoginTo: n.Name})
	}
	return nodes, nil
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

// The types of IOMMU groups.
const (
	iommuIdentity   = "identity" // iommu=pt
	iommuTranslated = "DMA-FQ"
)

// virtual reports whether the nodes are virtual machines: they have no CPU frequency scaling.
func (h Hardware) virtual() bool { return h.Node.Governor == "" }

func iommuOf(hw Hardware) string {
	if hw.virtual() {
		return ""
	}
	return iommuIdentity
}

// efaDriver is the version of the EFA driver; empty without adapters.
func efaDriver(hw Hardware) string {
	if hw.Fabric.EFA == nil {
		return ""
	}
	return hw.Fabric.EFA.Driver
}
