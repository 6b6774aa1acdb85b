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

// State is the world at one time. The caller owns it.
type State struct {
	Name   string
	Seed   uint64
	Now    time.Time
	Booted time.Time
	// Hardware is that of the Spec; nodes have their own.
	Hardware Hardware
	// Nodes has the GPU nodes in order, then the system nodes.
	Nodes    []Node
	Switches []fabric.Switch
	Links    []fabric.Link
	// Strangers are the adapters of hosts that are not the cluster's, on its subnet.
	Strangers []fabric.HCA
	SMs       []fabric.SM

	// ZeroGPUNodes: node feature discovery labels no node, so the operator has no GPU node.
	ZeroGPUNodes bool
	// NoDRADriver: the DRA driver is not installed, neither its DeviceClass nor its plugin.
	NoDRADriver bool
	// DRAClassMismatch: the DRA driver's DeviceClass selects GPUs of another product.
	DRAClassMismatch bool
	// DevicePluginTwice: NVIDIA's device plugin also runs in kube-system, installed by hand.
	DevicePluginTwice bool
	// NoGangScheduler: no scheduler supports gangs. HalfGang: the gang API exists, the scheduler
	// ignores it.
	NoGangScheduler bool
	HalfGang        bool
	// QueueClosed: the queues of gang schedulers admit no GPUs. KueueDown and JobOperatorsDown: Kueue,
	// the operators of job kinds do not run.
	QueueClosed      bool
	KueueDown        bool
	JobOperatorsDown bool
	// AlertRouteMissing: alerts are routed to a receiver without a notifier.
	AlertRouteMissing bool
	// AlertLabelDropped: Prometheus sends alerts without the label severity.
	AlertLabelDropped bool
	// OnCallSilent: the webhook of receiver on-call refuses connections; another receiver is
	// notified every second.
	OnCallSilent bool
	// PrometheusReplicaStale: a second Prometheus without samples alternates with the first one.
	PrometheusReplicaStale bool
	// NodeLabelOff: Prometheus does not label its targets with their node.
	NodeLabelOff bool
	// RulesUnselected: Prometheus' ruleSelector selects no PrometheusRule.
	RulesUnselected bool
	// RulesFrozen: rules that Prometheus has loaded neither change nor end.
	RulesFrozen bool
	// PrometheusShared: Prometheus has the series of another cluster's exporters too.
	PrometheusShared bool
	// ExportersUnscraped: Prometheus has no targets for the exporters.
	ExportersUnscraped bool
	// GPUOperatorDown: the GPU Operator does not run.
	GPUOperatorDown bool
	// DriverUpgradePending: the ClusterPolicy has another driver version, and upgrades are not
	// automatic.
	DriverUpgradePending bool

	ContainerLogs ContainerLogs

	Collective Collective
	Training   Training
	Inference  Inference
	Facility   Facility
	Autoscale  Autoscale
	Gateway    Gateway
	Operator   Operator
	Ray        Ray
	// Distribution is that of the Spec.
	Distribution string
	K3s          K3sCluster
}

// ContainerLogs is what kubelets do with the logs of containers.
type ContainerLogs struct {
	// MaxBytes is the size at which a log is rotated; 0: never.
	MaxBytes int64
	// FollowBytes is after how many bytes a proxy in front of the API server ends the stream of a followed log; 0: never.
	FollowBytes int64
}

// Collective has cluster-wide faults of collectives; nodes have their own.
type Collective struct {
	DataCorruption bool // in every run; see also Node.DataCorruption
	Truncated      bool // the output ends in the middle of the table
	// Rails is the part of its rate that a rail gives under load, by the name of its adapters; absent: all.
	Rails map[string]float64
	// Uplinks is the part of the links between switches that traffic uses; 0: all.
	Uplinks float64
}

// Training modifies every training job.
type Training struct {
	MFUFactor  float64 // 1 is healthy
	StepJitter float64 // relative amplitude added to step times; 0 is healthy
	NaNFrom    int     // first step with a NaN loss; 0: never
	// CheckpointGiB is the free space of the file system for checkpoints.
	CheckpointGiB float64
}

// Inference modifies every inference server.
type Inference struct {
	MaxModelLenBroken bool
	TTFTFactor        float64 // 1 is healthy
	TPOTFactor        float64
	FailEvery         int // every n-th request fails; 0: none
	WrongTokens       bool
	// OtherRevision: the weights are of another revision, whose answers begin equally.
	OtherRevision bool
	// MaxTokens is the generation config's limit; 0: none.
	MaxTokens int
	// MaxNumSeqs is the number of requests decoded concurrently; 0: the hardware's.
	MaxNumSeqs int
	// LoadImageMissing: the image of the load generator cannot be pulled.
	LoadImageMissing bool
	// LoadEvicted: the kubelet evicts the load generator while it runs.
	LoadEvicted bool
	// LoadStarved is for how long the load generator does not run, several times a second; 0: it runs.
	LoadStarved time.Duration
	// ServiceBlocked is why pods cannot reach the server: BlockedByDNS or BlockedByPolicy; empty: they can.
	ServiceBlocked string
	// Pause is an extra delay of one step in the middle of each answer; 0: none.
	Pause time.Duration
}

// Why pods cannot reach a Service.
const (
	BlockedByDNS    = "dns"    // its name does not resolve
	BlockedByPolicy = "policy" // a NetworkPolicy drops packets
)

// Autoscale has the faults between exporters and new nodes.
type Autoscale struct {
	AdapterDown           bool // prometheus-adapter is stopped
	AdapterRuleWrong      bool // its power rules query a series that does not exist
	APIServiceUnavailable bool // the metrics APIServices point at a closed port
	HonorLabelsOff        bool // target labels override the exporter's labels
	ServiceRuleWrong      bool // the inference rules query series that no server exports
	// Policies change objects when they are created or updated; see lab/policy.
	Policies []Policy
	// Boot is the time until an instance registers as a node, except a run's first; 0: at once.
	Boot time.Duration
	// SpareNodes: a free node of the same pool appears for each booting instance, except the
	// pool's first.
	SpareNodes bool
	// BlockerPods: each node of a run has a pod that must not be disrupted.
	BlockerPods bool
}

// Policy is an active policy.
type Policy struct {
	Name string
	// Spare excludes objects created before a worker runs.
	Spare bool
}

// Gateway has the faults of simulated gateways.
type Gateway struct {
	// NotProgrammed is the condition reason of gateways without an address; empty: healthy.
	NotProgrammed  string
	IgnoresWeights bool // the first backend of a rule gets all requests
	IgnoresHeaders bool // matches with headers never match
}

// Operator has the faults of the lab's AI operator, Kubeflow Trainer.
type Operator struct {
	WebhookFailsOpen bool // its webhook is unreachable and admits all objects
	// Down is the restart delay of its controller; 0: none.
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
	ID        string // Redfish Id
	Rack      string
	Feed      string // A or B
	Energised bool
	Watts     float64
	// NoMains: its controller has no resource for its incoming circuits.
	NoMains bool
}

// Exporter has the faults of a node's dcgm-exporter.
type Exporter struct {
	Down             bool
	StaleSince       time.Time // zero: fresh
	HostLabelDropped bool
	// GPULabelDropped: series lack gpu and UUID.
	GPULabelDropped bool
	// TempZero: it reports 0 C for every GPU under any load.
	TempZero bool
	// HostName is the reported host name; empty: the node's.
	HostName string
	// PodShift: a GPU's pod is on the next GPU's series.
	PodShift bool
	// Ahead is how far its timestamps are in the future; 0: it sends none.
	Ahead time.Duration
	// HostLabel is the label's name: "Hostname", or "hostname" in newer exporters.
	HostLabel string
}

// Node is one host. System nodes have no GPUs and no HCAs.
type Node struct {
	Name    string
	Address string
	Rack    string
	System  bool
	Index   int // among nodes of its kind, from 0
	// Hardware has the figures of this host; a system node has those of the Spec.
	Hardware Hardware
	OS       OS
	// NoOSLabels: node feature discovery does not label the operating system.
	NoOSLabels bool

	Driver        string
	CUDA          string
	VBIOS         string
	DCGMMajor     int
	FabricManager FabricManager
	IMEX          IMEX
	// NVLinkCluster is the UUID of the NVLink domain of several nodes; empty: NVLink is inside of nodes.
	NVLinkCluster string
	// MNNVLOff: /etc/nccl.conf of the host sets NCCL_MNNVL_ENABLE=0.
	MNNVLOff bool
	// NVMLError replaces all output of nvidia-smi; empty: healthy.
	NVMLError string

	GPUs []GPU
	HCAs []fabric.HCA
	// RDMACount is the number of devices of the RDMA device plugin.
	RDMACount int
	XIDs      []XID
	// Unreachable: its SSH server does not respond.
	Unreachable bool
	// Standby: the host is powered off; only its BMC has power.
	Standby bool
	// LoginTo is the host that responds at its SSH address: itself if healthy.
	LoginTo string

	MemoryGiB int
	HugePages int    // 2 MiB pages reserved
	Governor  string // CPU frequency governor; empty without cpufreq
	// IOMMU is the type of its IOMMU groups; empty for a virtual machine, which has none.
	IOMMU string
	// ACS is set if the ports of its PCIe switches redirect peer-to-peer traffic.
	ACS bool
	// ClockOffset is how far its clock is ahead.
	ClockOffset time.Duration
	// LogWrapped: the beginning of its kernel log is overwritten.
	LogWrapped bool
	// LogRestricted: only root may read its kernel log (kernel.dmesg_restrict).
	LogRestricted bool
	// SudoRefuses is why sudo runs nothing for the site's user: SudoPassword, SudoTerminal, SudoRule; empty:
	// it runs every command.
	SudoRefuses string
	// ToolMissing is a program that is not installed; empty: healthy.
	ToolMissing string
	// ToolsInPods: nvidia-smi and dcgmi are in the GPU Operator's pods, not on the host.
	ToolsInPods bool
	// NoHostEngine: DCGM's host engine does not run.
	NoHostEngine bool
	// InboxDrivers: its adapters have the drivers of the distribution, without NVIDIA's programs
	// and files of sysfs.
	InboxDrivers bool
	// EFADriver is the version of the driver of Elastic Fabric Adapters; empty without adapters.
	EFADriver string
	// EFAMissing is the adapter that the instance does not have; empty: healthy.
	EFAMissing string
	// NoUMAD: the kernel module ib_umad is not loaded, which the fabric's tools need.
	NoUMAD bool
	// HCALinks has the PCIe links of HCAs, in HCA order.
	HCALinks []PCIeLink

	// CheckpointsReadOnly: the file system for checkpoints is mounted read-only.
	// CheckpointsUnmounted: it is not mounted, and its directory is on the node's own disk.
	CheckpointsReadOnly, CheckpointsUnmounted bool

	// StepFactor multiplies the time of steps that include this node; 1: healthy.
	StepFactor float64
	Transport  string // TransportIB or TransportSocket
	GPUDirect  bool
	NVLS       bool
	// DataCorruption: collectives with this node return wrong results.
	DataCorruption bool

	Exporter Exporter
	// NoSlice: the DRA driver publishes no ResourceSlice for this node.
	NoSlice bool
	// EnvLeaks: the container toolkit accepts NVIDIA_VISIBLE_DEVICES from any pod.
	EnvLeaks bool
	// ClaimLeaks: all containers of a pod get the devices of each.
	ClaimLeaks bool
	// OperandNotReady is the operator's DaemonSet whose pod is not ready here; empty: healthy.
	OperandNotReady string
	// OperandRepushed is the operator's DaemonSet whose pod here runs an older image of the same
	// tag; empty: healthy.
	OperandRepushed string
	// CUDAValidationFails: the CUDA workload of the operator's validator fails here.
	CUDAValidationFails bool
	// MIGHalfApplied: MIG manager has partitioned a part of the GPUs and failed; the device plugin
	// refuses the mixture.
	MIGHalfApplied bool
	// DRAOnly: the device plugin does not run.
	DRAOnly bool
	// MIG is the strategy by which the device plugin offers MIGDevices of MIGProfile for each GPU;
	// empty: whole GPUs.
	MIG string
	// NFDLabelsMissing: node feature discovery does not find its GPUs.
	NFDLabelsMissing bool
	// DiskPressure: its kubelet reports disk pressure.
	DiskPressure bool
	// ToBeDeleted: an autoscaler has tainted it for deletion.
	ToBeDeleted bool
	// KernelDeadlock: node-problem-detector reports a deadlock of its kernel.
	KernelDeadlock bool
	// RayNotReady, RayGPUsShort, RayCommitFails: the raylet of its Ray worker does not start, its container has
	// one GPU less than its pod requests, its raylet does not commit bundles.
	RayNotReady, RayGPUsShort, RayCommitFails bool
	// NoDNS: its pods cannot resolve names.
	NoDNS bool
	// NotK3s: it is a node of Kubernetes in a cluster of k3s. HostContainerd: its k3s uses the containerd of the host.
	NotK3s, HostContainerd bool
	// MinorsNewer is by how many minor versions its kubelet is newer than the API server.
	MinorsNewer int
}

// The MIG partitioning of the lab's GPUs, and the strategies of the device plugin.
const (
	MIGProfile = "1g.10gb"
	MIGDevices = 7
	// MIGMemoryMiB and MIGProcessors are the memory and the multiprocessors of such a device on an
	// H100 with 80 GB. Source: NVIDIA MIG User Guide, nvidia-smi mig -lgip.
	MIGMemoryMiB  = 9856
	MIGProcessors = 16
	MIGSingle     = "single"
	MIGMixed      = "mixed"
)

// GPU is one GPU.
type GPU struct {
	Index   int // driver enumeration at boot
	UUID    string
	Serial  string
	BusID   string // 0000:1B:00.0
	Present bool   // enumerated at boot
	Lost    bool   // fell off the bus since boot
	VBIOS   string

	ECCMode   bool
	Volatile  ECC
	Aggregate ECC
	Remap     Remap

	MaxSMClock int // MHz, maximum of the card
	AppSMClock int // applications clock
	// LockedClock is the limit of nvidia-smi -lgc; 0: none. No tool prints it: it shows in SMClock
	// under load.
	LockedClock int
	SMClock     int // current
	MemClock    int
	Reasons     ClockReasons
	// Time spent throttled since boot.
	HWThermal, SWThermal, SWPower, HWPowerBrake time.Duration
	// NoThrottleCounters: nvidia-smi prints N/A instead of those times.
	NoThrottleCounters bool

	// Speed is the throughput relative to a healthy GPU at the same clock; 1: healthy.
	Speed float64

	PowerLimit float64 // W
	// CapUnderLoad is the power limit while a pod causes high load; 0: none.
	CapUnderLoad float64
	Power        float64
	Temp         float64
	MemTemp      float64
	Util         int // %
	MemUsedMiB   int

	NVLinkUp []bool
	// FabricHealth has the degraded parts of its NVLink fabric by element of nvidia-smi -q -x.
	FabricHealth map[string]string
	// LinkErrors is the replay count of NVLink 4.
	LinkErrors uint64
	Energy     float64 // J since boot

	PCIeGen   int // of its link under load
	PCIeWidth int // lanes of its link
	Socket    int // NUMA node
	// BrakesUnderLoad: the power brake slows it down under load.
	BrakesUnderLoad bool

	// Occupant holds this GPU; the zero Pod: free.
	Occupant Pod
}

// PCIeLink is the state of a device's PCIe link.
type PCIeLink struct {
	GTs   float64 // per lane
	Width int
}

// Usable reports whether work can run on the GPU.
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

// ClockReasons are nvidia-smi's clock event reasons.
type ClockReasons struct {
	Idle, ApplicationsClocks, SWPowerCap, HWSlowdown, HWThermal, HWPowerBrake, SWThermal bool
}

// XID is one driver error in the kernel log.
type XID struct {
	At    time.Time
	BusID string // 0000:1B:00
	Code  int
	Text  string // text after "code, "
}

// Pod is an occupant of GPUs.
type Pod struct {
	UID       string
	Namespace string
	Name      string
	Container string
}

// Load of an occupant.
type Load struct {
	Util      int     // %
	PowerFrac float64 // 0 idle .. 1 power limit
	MemMiB    int
}
