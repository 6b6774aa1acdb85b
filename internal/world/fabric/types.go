package fabric

import "time"

// Port states as the tools print them.
const (
	StateActive = "Active"
	StateInit   = "Initializing"
	StateDown   = "Down"

	PhysLinkUp   = "LinkUp"
	PhysPolling  = "Polling"
	PhysDisabled = "Disabled"
)

// Switch roles.
const (
	RoleLeaf  = "leaf"
	RoleSpine = "spine"
	RoleCore  = "core"
)

// SM states as sminfo numbers them.
const (
	SMNotActive   = 0
	SMDiscovering = 1
	SMStandby     = 2
	SMMaster      = 3
)

// Switch is one fabric switch.
type Switch struct {
	Name  string
	Role  string
	GUID  uint64
	LID   int
	Ports int // external ports, numbered from 1
	SMLID int
}

// HCA is one host channel adapter with one port.
type HCA struct {
	Node       string
	Name       string // mlx5_0
	Rail       int
	GUID       uint64
	LID        int
	SMLID      int
	State      string
	PhysState  string
	Rate       int // Gb/s as in ibstat
	Width      int
	LaneGbps   float64
	Firmware   string
	MTU        int      // bytes, active on its port
	PKeys      []uint16 // P_Key table of its port, from entry 0
	BusID      string
	Attached   End // switch port at the other end
	LinkDowned uint64
	// Ethernet is the state of a RoCE port; zero for InfiniBand.
	Ethernet Ethernet
}

// Priorities is the number of priorities of an Ethernet port.
const Priorities = 8

// Ethernet is the state of a RoCE port and its network device.
type Ethernet struct {
	Netdev  string // enp24s0np0; empty for InfiniBand
	MTU     int    // bytes, of the network device
	Address string // IPv4
	PFC     [Priorities]bool
	// TrustDSCP: the port takes the priority of a packet from its DSCP, by eights; else from its
	// VLAN tag.
	TrustDSCP bool
	// ECN tells by priority whether the port answers marked packets and slows down.
	ECN [Priorities]bool
	// NoGID: the GID table lacks the entries of Address.
	NoGID bool
	// Paused is how long the switch has paused the port on the priority of RDMA traffic.
	Paused time.Duration
	// Counters of the port at the time of the snapshot.
	Counters Counters
}

// ActiveMTU is the RDMA MTU of a network device's MTU: the largest of InfiniBand's that fits it with
// 96 bytes of headers.
func (e Ethernet) ActiveMTU() int {
	const headers = 96
	active := 256
	for _, mtu := range []int{512, 1024, 2048, 4096} {
		if e.MTU-headers >= mtu {
			active = mtu
		}
	}
	return active
}

// End is one end of a link. A switch has no Device.
type End struct {
	Node   string
	Device string
	Port   int
}

// Name is "gpu-01/mlx5_0" or "leaf-0/33".
func (e End) Name() string {
	if e.Device != "" {
		return e.Node + "/" + e.Device
	}
	return e.Node + "/" + itoa(e.Port)
}

// Link is one cable. A is the lower end: an HCA, or a leaf for a link to a spine.
type Link struct {
	A, B      End
	State     string // of both ports
	PhysState string
	LaneGbps  float64 // active signalling rate per lane
	Width     int     // active lanes
	MaxLane   float64 // supported by both ends
	MaxWidth  int
	// Counters of the ports at A and B at the time of the snapshot.
	CountersA, CountersB Counters
}

// Up reports whether the link carries traffic.
func (l Link) Up() bool { return l.State == StateActive && l.PhysState == PhysLinkUp }

// Rate is the data rate in Gb/s (4 lanes of NDR: 400); 0: down.
func (l Link) Rate() int {
	if !l.Up() {
		return 0
	}
	return DataRate(l.LaneGbps) * l.Width
}

// Touches reports whether e is an end of the link.
func (l Link) Touches(e End) bool { return l.A == e || l.B == e }

// Counters are a port's error counters; fields are named as in the tools.
type Counters struct {
	SymbolErrorCounter           uint64
	LinkErrorRecoveryCounter     uint64
	LinkDownedCounter            uint64
	PortRcvErrors                uint64
	PortRcvRemotePhysicalErrors  uint64
	PortRcvSwitchRelayErrors     uint64
	PortXmitDiscards             uint64
	LocalLinkIntegrityErrors     uint64
	ExcessiveBufferOverrunErrors uint64
	PortXmitWait                 uint64
	PortXmitData                 uint64
	PortRcvData                  uint64
	PortXmitPkts                 uint64
	PortRcvPkts                  uint64
}

// SM is one subnet manager.
type SM struct {
	Node     string // switch or host
	GUID     uint64
	LID      int
	Priority int
	State    int
	Activity uint64
	// Silent: it does not respond.
	Silent bool
}
