package fabric

import (
	"fmt"
	"math/rand/v2"
)

// Shape is the input of Build.
type Shape struct {
	Seed     uint64
	Nodes    []string // hosts on the fabric, in order
	HCAs     []string // device names per host, one per rail
	Spines   int
	NodesSU  int // hosts per leaf; more hosts add groups of leaves
	Ports    int // external ports per switch
	Lane     float64
	Width    int
	Firmware string
	MTU      int
	PKeys    []uint16
	BusIDs   []string // PCI address of each HCA
}

// Topology is a healthy, idle fabric: every link is up at full speed.
type Topology struct {
	Switches []Switch
	HCAs     []HCA // by node, then rail
	Links    []Link
	SMs      []SM
}

// Build creates the topology: HCA k of a host on leaf k of its group, one uplink from each leaf to
// each spine, a master SM on spine 0 and a standby on spine 1. Where a spine has fewer ports than
// there are leaves, each rail has spines of its own, and each of them an uplink to each core switch.
func Build(s Shape) (Topology, error) {
	if len(s.Nodes) == 0 || len(s.HCAs) == 0 || s.Spines < 1 || s.NodesSU < 1 {
		return Topology{}, fmt.Errorf("invalid fabric of %d hosts, %d HCAs and %d spines: must have hosts, HCAs and spines", len(s.Nodes), len(s.HCAs), s.Spines)
	}
	if s.NodesSU+s.Spines > s.Ports {
		return Topology{}, fmt.Errorf("%d hosts and %d uplinks do not fit a leaf of %d ports", s.NodesSU, s.Spines, s.Ports)
	}
	rails := len(s.HCAs)
	leaves := rails * ((len(s.Nodes) + s.NodesSU - 1) / s.NodesSU)
	spines, cores := s.Spines, 0
	if leaves > s.Ports {
		spines, cores = rails*s.Spines, s.Spines
		if leaves/rails+cores > s.Ports || spines > s.Ports {
			return Topology{}, fmt.Errorf("%d leaves of %d rails do not fit spines and core switches of %d ports: use fewer hosts or more hosts per leaf", leaves, rails, s.Ports)
		}
	}
	rng := rand.New(rand.NewPCG(s.Seed, 0x1b)) //nolint:gosec // simulation, not secrets
	guids := guidSource{base: 0xa088c20300000000 | uint64(rng.Uint32()&0x00ff0000)}
	var t Topology
	lid := 1
	for _, tier := range []struct {
		role string
		n    int
	}{{RoleSpine, spines}, {RoleCore, cores}, {RoleLeaf, leaves}} {
		for i := range tier.n {
			t.Switches = append(t.Switches, Switch{Name: fmt.Sprintf("%s-%d", tier.role, i), Role: tier.role, GUID: guids.next(), LID: lid, Ports: s.Ports, SMLID: 1})
			lid++
		}
	}
	link := Link{State: StateActive, PhysState: PhysLinkUp, LaneGbps: s.Lane, Width: s.Width, MaxLane: s.Lane, MaxWidth: s.Width}
	for n, node := range s.Nodes {
		for k, dev := range s.HCAs {
			leaf := End{Node: fmt.Sprintf("leaf-%d", (n/s.NodesSU)*rails+k), Port: n%s.NodesSU + 1}
			h := HCA{Node: node, Name: dev, Rail: k, GUID: guids.next(), LID: lid, SMLID: 1, Firmware: s.Firmware, MTU: s.MTU, PKeys: s.PKeys, Attached: leaf}
			if k < len(s.BusIDs) {
				h.BusID = s.BusIDs[k]
			}
			lid++
			t.HCAs = append(t.HCAs, h)
			l := link
			l.A, l.B = End{Node: node, Device: dev, Port: 1}, leaf
			l.CountersA, l.CountersB = restCounters(rng), restCounters(rng)
			t.Links = append(t.Links, l)
		}
	}
	uplink := func(a, b End) {
		l := link
		l.A, l.B = a, b
		l.CountersA, l.CountersB = restCounters(rng), restCounters(rng)
		t.Links = append(t.Links, l)
	}
	for i := range leaves {
		for j := range s.Spines {
			spine := End{Node: fmt.Sprintf("spine-%d", j), Port: i + 1}
			if cores > 0 {
				spine = End{Node: fmt.Sprintf("spine-%d", i%rails*s.Spines+j), Port: i/rails + 1}
			}
			uplink(End{Node: fmt.Sprintf("leaf-%d", i), Port: s.NodesSU + 1 + j}, spine)
		}
	}
	for j := range cores {
		for i := range spines {
			uplink(End{Node: fmt.Sprintf("spine-%d", i), Port: leaves/rails + 1 + j}, End{Node: fmt.Sprintf("core-%d", j), Port: i + 1})
		}
	}
	for i := range min(2, s.Spines) {
		sm := SM{Node: t.Switches[i].Name, GUID: t.Switches[i].GUID, LID: t.Switches[i].LID, Priority: 14, State: SMMaster}
		if i > 0 {
			sm.Priority, sm.State = 13, SMStandby
		}
		sm.Activity = 1000 + rng.Uint64N(4_000_000)
		t.SMs = append(t.SMs, sm)
	}
	return t, nil
}

// restCounters are a healthy port's counters since it was cabled; they are not zero.
func restCounters(rng *rand.Rand) Counters {
	return Counters{
		PortRcvErrors: 14,
		PortXmitWait:  rng.Uint64N(90_000),
		PortXmitData:  1_000_000_000 + rng.Uint64N(1_000_000_000),
		PortRcvData:   1_000_000_000 + rng.Uint64N(1_000_000_000),
		PortXmitPkts:  4_000_000 + rng.Uint64N(1_000_000),
		PortRcvPkts:   4_000_000 + rng.Uint64N(1_000_000),
	}
}

type guidSource struct{ base, n uint64 }

func (g *guidSource) next() uint64 {
	g.n++
	return g.base + g.n*0x10
}
