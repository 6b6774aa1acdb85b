package world

import (
	"time"

	"github.com/firstlight/firstlight/internal/world/fabric"
)

// Transports between nodes.
const (
	TransportIB     = "IB"
	TransportSocket = "Socket"
)

// State is the world at one instant. It belongs to whoever asked for it.
type State struct {
	Name     string
	Seed     uint64
	Now      time.Time
	Booted   time.Time
	Hardware Hardware
	// Nodes are the GPU nodes in order, then the system nodes.
	Nodes    []Node
	Switches []fabric.Switch
	Links    []fabric.Link
	SMs      []fabric.SM

	// ZeroGPUNodes: node feature discovery labels nothing, the operator sees no GPU node.
	ZeroGPUNodes bool
	// NoGangScheduler: no scheduler knows gangs. HalfGang: the gang API is there, nobody honours it.
	NoGangScheduler bool
	HalfGang        bool
	// AlertRouteMissing: alerts are routed to a receiver that does nothing.
	AlertRouteMissing bool
	// OnCallSilent: the webhook of the receiver on-call refuses
	// connections, while that of another receiver is notified every second.
	OnCallSilent bool
	// PrometheusReplicaStale: a second Prometheus, which has no samples, answers in turns with
	// the one that has.
	PrometheusReplicaStale bool
	// NodeLabelOff: Prometheus does not label its targets with their node.
	NodeLabelOff bool

	Collective Collective
	Training   Training
	Inference  Inference
	Facility   Facility
	Autoscale  Autoscale
	Gateway    Gateway
	Operator   Operator
}

// Collective holds what goes wrong with collectives in the whole cluster; nodes
// have their own modifiers.
type Collective struct {
	DataCorruption bool // every run; see also Node.DataCorruption
	Truncated      bool // the output stops in the middle of the table
}

// Training modifies every training job.
type Training struct {
	MFUFactor  float64 // 1 is healthy
	StepJitter float64 // relative amplitude added to step times; 0 is healthy
	NaNFrom    int     // the loss is no number from this step on; 0 never
}

// Inference modifies every inference server.
type Inference struct {
	MaxModelLenBroken bool
	TTFTFactor        float64 // 1 is healthy
	TPOTFactor        float64
	FailEvery         int // every n-th request fails; 0 none
	WrongTokens       bool
	// OtherRevision: the weights are of another revision, whose answers begin alike.
	OtherRevision bool
	// MaxTokens is what the generation config lets any answer have; 0 is no limit.
	MaxTokens int
	// MaxNumSeqs is how many requests are decoded at once; 0 is what the figures say.
	MaxNumSeqs int
	// Pause is what one step in the middle of each answer takes longer; 0 is healthy.
	Pause time.Duration
}

// Autoscale is what goes wrong between the exporters and new nodes.
type Autoscale struct {
	AdapterDown           bool // prometheus-adapter does not run
	AdapterRuleWrong      bool // its power rules ask for a series that is not there
	APIServiceUnavailable bool // the metrics APIs lead nowhere
	HonorLabelsOff        bool // Prometheus puts its target's labels before the exporter's
	ServiceRuleWrong      bool // the adapter's rules for inference servers ask for series that no server has
	// Policies change objects as they are created or updated, by name; see lab/policy.
	Policies []Policy
	// Boot is how long an instance takes until it registers as a node, but for a
	// run's first; 0 is healthy.
	Boot time.Duration
	// Elsewhere: a free node of the same pool appears beside each instance that
	// is on its way, but for the pool's first.
	SpareNodes bool
	// Keepers: on each node that was made for a run sits a pod that must not be disrupted.
	BlockerPods bool
}

// Policy is one that is in force.
type Policy struct {
	Name string
	// Spare leaves alone what comes before a worker runs.
	Spare bool
}

// Gateway is what goes wrong with the gateways that the world plays.
type Gateway struct {
	// NotProgrammed is the reason for which they are not programmed; empty: they are.
	NotProgrammed  string
	IgnoresWeights bool // the first backend of a rule gets everything
	IgnoresHeaders bool // matches with headers are never taken
}

// Operator is what goes wrong with the AI operator that the lab has, Kubeflow Trainer.
type Operator struct {
	WebhookFailsOpen bool // its webhook can't be asked, and what it would deny is let through
	// Down is how long its controller stays ended when it has died; 0 is healthy.
	Down time.Duration
}

// Facility is the building.
type Facility struct {
	SignedOff bool
	SignedBy  string
	Role      string
	Reference string
	SignedAt  time.Time
	Expires   time.Time
	PowerKW   float64
	CoolingKW float64
	WeightKg  float64
	PDUs      []PDU
}

// PDU is one rack power distribution unit.
type PDU struct {
	ID        string // its Redfish Id
	Rack      string
	Feed      string // A or B
	Energised bool
	Watts     float64
	// NoMains: its controller has no resource of its incoming circuits.
	NoMains bool
}

// Exporter is what is wrong with a node's dcgm-exporter.
type Exporter struct {
	Down             bool
	StaleSince       time.Time // zero: fresh
	HostLabelDropped bool
	// GPULabelDropped: series lack gpu and UUID.
	GPULabelDropped bool
	// TempZero: it tells 0 C of every GPU, loaded or not.
	TempZero bool
	// HostName is what it says its host is; empty: the node's name.
	HostName string
	// PodShift: the pod that uses a GPU is named on the next GPU's series.
	PodShift bool
	// Ahead: its samples carry times so far in the future; 0: none of their own.
	Ahead time.Duration
	// HostLabel is the label's spelling: "Hostname", or "hostname" in newer exporters.
	HostLabel string
}

// Node is one host. System nodes have no GPUs and no HCAs.
type Node struct {
	Name    string
	Address string
	Rack    string
	System  bool
	Index   int // among its kind, from 0

	Driver    string
	CUDA      string
	VBIOS     string
	DCGMMajor int
	// NVMLError is what nvidia-smi says instead of anything else; empty is healthy.
	NVMLError string

	GPUs []GPU
	HCAs []fabric.HCA
	// RDMACount is what the RDMA device plugin finds.
	RDMACount int
	XIDs      []XID
	// Unreachable: its SSH server doesn't answer.
	Unreachable bool
	// Standby: its host is off; only its controller has power.
	Standby bool
	// LoginTo names the host that answers at its SSH address: itself when healthy.
	LoginTo string

	MemoryGiB int
	HugePages int    // of 2 MiB, reserved
	Governor  string // of the CPU frequencies; empty without cpufreq
	// ClockOffset is how far its clock is ahead.
	ClockOffset time.Duration
	// LogWrapped: newer lines have overwritten the beginning of its kernel log.
	LogWrapped bool
	// HCALinks are the PCIe links of HCAs, in their order.
	HCALinks []PCIeLink

	// StepFactor: anything that waits for this node takes so much longer; 1 is healthy.
	StepFactor float64
	Transport  string // TransportIB or TransportSocket
	GPUDirect  bool
	NVLS       bool
	// DataCorruption: collectives with this node give wrong results.
	DataCorruption bool

	Exporter Exporter
	// NoSlice: the DRA driver publishes nothing of this node.
	NoSlice bool
	// EnvLeaks: the container toolkit heeds NVIDIA_VISIBLE_DEVICES of any pod.
	EnvLeaks bool
	// ClaimLeaks: what one container of a pod was given, the others get too.
	ClaimLeaks bool
	// OperandNotReady names the operator's DaemonSet whose pod isn't ready here; empty is healthy.
	OperandNotReady string
	// OperandRepushed names the operator's DaemonSet whose pod here runs what the image's
	// tag named at another time; empty is healthy.
	OperandRepushed string
	// DiskPressure: its kubelet is short of disk.
	DiskPressure bool
	// NoDNS: its pods resolve no name.
	NoDNS bool
}

// GPU is one accelerator.
type GPU struct {
	Index   int // as the driver numbered it at boot
	UUID    string
	Serial  string
	BusID   string // 0000:1B:00.0
	Present bool   // enumerated at boot
	Lost    bool   // fell off the bus since
	VBIOS   string

	ECCMode   bool
	Volatile  ECC
	Aggregate ECC
	Remap     Remap

	MaxSMClock int // MHz, the card's highest
	AppSMClock int // applications clock
	// LockedClock is the highest SM clock that nvidia-smi -lgc allows; 0 unlocked. Nothing
	// prints it: it shows in SMClock under load.
	LockedClock int
	SMClock     int // now
	MemClock    int
	Reasons     ClockReasons
	// Time spent throttled since boot.
	HWThermal, SWThermal, SWPower, HWPowerBrake time.Duration

	// Speed is what it computes at any clock, against a healthy one; 1 is healthy.
	Speed float64

	PowerLimit float64 // W
	// CapUnderLoad is what the power limit is lowered to while a pod makes the GPU draw much; 0 is healthy.
	CapUnderLoad float64
	Power        float64
	Temp         float64
	MemTemp      float64
	Util         int // %
	MemUsedMiB   int

	NVLinkUp []bool
	// LinkErrors are the replays that NVLink 4 has counted.
	LinkErrors uint64
	Energy     float64 // J since boot

	PCIeGen int // generation that its link runs at under load
	Socket  int // NUMA node that it is attached to
	// BrakesUnderLoad: the power brake slows it down whenever it works.
	BrakesUnderLoad bool

	// Occupant holds this GPU; the zero Pod is nobody.
	Occupant Pod
}

// PCIeLink is what a device's PCIe link runs at.
type PCIeLink struct {
	GTs   float64 // a lane
	Width int
}

// Usable says that work can run on it.
func (g GPU) Usable() bool { return g.Present && !g.Lost }

// ECC counts memory errors.
type ECC struct {
	SRAMCorrectable, SRAMUncorrectable uint64
	DRAMCorrectable, DRAMUncorrectable uint64
}

// Remap is the state of memory row remapping.
type Remap struct {
	Correctable, Uncorrectable int
	Pending, Failure           bool
}

// ClockReasons say why clocks are where they are.
type ClockReasons struct {
	Idle, ApplicationsClocks, SWPowerCap, HWSlowdown, HWThermal, HWPowerBrake, SWThermal bool
}

// XID is one driver error in the kernel log.
type XID struct {
	At    time.Time
	BusID string // 0000:1B:00
	Code  int
	Text  string // after "code, "
}

// Pod is who occupies GPUs.
type Pod struct {
	UID       string
	Namespace string
	Name      string
	Container string
}

// Load is what an occupant does to its GPUs.
type Load struct {
	Util      int     // %
	PowerFrac float64 // 0 idle .. 1 power limit
	MemMiB    int
}
