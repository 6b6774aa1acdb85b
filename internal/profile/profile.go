package profile

import (
	"math"
	"time"
)

// Figure is a number with its unit and where it comes from.
type Figure struct {
	Value  float64 `yaml:"value" json:"value"`
	Unit   string  `yaml:"unit" json:"unit"`
	Source string  `yaml:"source" json:"source"`
}

// Duration is the value of a figure in seconds.
func (f Figure) Duration() time.Duration { return time.Duration(f.Value * float64(time.Second)) }

// Profile is one kind of GPU node and the fabric between such nodes.
type Profile struct {
	APIVersion string     `yaml:"apiVersion" json:"apiVersion"`
	Kind       string     `yaml:"kind" json:"kind"`
	Name       string     `yaml:"name" json:"name"`
	Summary    string     `yaml:"summary" json:"summary"`
	GPU        GPU        `yaml:"gpu" json:"gpu"`
	Node       Node       `yaml:"node" json:"node"`
	Fabric     Fabric     `yaml:"fabric" json:"fabric"`
	Collective Collective `yaml:"collective" json:"collective"`
	Training   Training   `yaml:"training" json:"training"`
	Inference  Inference  `yaml:"inference" json:"inference"`
	GPUStack   GPUStack   `yaml:"gpustack" json:"gpustack"`
	Telemetry  Telemetry  `yaml:"telemetry" json:"telemetry"`
}

// Rails tells that nodes are on a compute fabric. Without one there is nothing for
// gate fabric to look at, and the figures of Fabric are zero.
func (p *Profile) Rails() bool { return p.Node.HCAs.Value > 0 }

// Subnet tells that the fabric is an InfiniBand subnet, with a subnet manager, links and
// counters for gate fabric to look at. Other fabrics have none of these.
func (p *Profile) Subnet() bool { return p.Fabric.Kind == InfiniBand }

// Verbs tells that NCCL names the fabric's devices: those of InfiniBand and RoCE.
func (p *Profile) Verbs() bool { return p.Fabric.Kind == InfiniBand || p.Fabric.Kind == RoCE }

// The kinds of a compute fabric.
const (
	InfiniBand = "infiniband"
	RoCE       = "roce"
	EFA        = "efa"   // Elastic Fabric Adapter of Amazon EC2
	TCPXO      = "tcpxo" // GPUDirect-TCPXO of Google Cloud
	NoFabric   = "none"
)

// kinds are the kinds of a fabric that a profile may have.
var kinds = []string{InfiniBand, RoCE, EFA, TCPXO, NoFabric}

// MultiNodeNVLink tells that NVLink connects nodes.
func (p *Profile) MultiNodeNVLink() bool {
	return p.Node.NVLinkDomain != nil && p.Node.NVLinkDomain.Value > 1
}

// NVLinkDomains is the number of NVLink domains that nodes fill; it needs node.nvlinkDomain.
func (p *Profile) NVLinkDomains(nodes int) int {
	return int(math.Ceil(float64(nodes) / p.Node.NVLinkDomain.Value))
}

// Collectives tells that there is something for GPUs to reach each other by: NVLinks
// inside a node, or rails. Without it the profile has no ceilings.
func (p *Profile) Collectives() bool {
	return p.Rails() || p.Node.GPUs.Value > 1 && p.GPU.NVLinks.Value > 0
}

// GPU is one accelerator.
type GPU struct {
	// Products are the names nvidia-smi prints for it.
	Products []string `yaml:"products" json:"products"`
	Memory   Figure   `yaml:"memory" json:"memory"` // MiB, at least
	TDP      Figure   `yaml:"tdp" json:"tdp"`       // W, the default power limit
	// IdlePower is what it draws without work; profiles of before it was asked for
	// do not say.
	IdlePower *Figure `yaml:"idlePower,omitempty" json:"idlePower,omitempty"` // W
	// MaxSMClock is the highest SM clock a healthy card is allowed.
	MaxSMClock Figure `yaml:"maxSMClock" json:"maxSMClock"` // MHz
	// MinLoadSMClock is what its SM clock must reach at least once during the diagnostic.
	MinLoadSMClock Figure `yaml:"minLoadSMClock" json:"minLoadSMClock"` // MHz
	// PeakBF16 is the dense BF16 peak that MFU is computed from.
	PeakBF16    Figure `yaml:"peakBF16" json:"peakBF16"`         // TFLOPS
	NVLinks     Figure `yaml:"nvlinks" json:"nvlinks"`           // links a GPU
	NVLinkRate  Figure `yaml:"nvlinkRate" json:"nvlinkRate"`     // GB/s a link and direction
	PCIeGen     Figure `yaml:"pcieGen" json:"pcieGen"`           // generation under load
	PCIeWidth   Figure `yaml:"pcieWidth" json:"pcieWidth"`       // lanes
	SlowdownTmp Figure `yaml:"slowdownTemp" json:"slowdownTemp"` // C
	// NVLinkErrorLimits are the highest increases of a link's error counters over the
	// diagnostic, by the counter's name as nvidia-smi nvlink -e prints it. A counter not
	// listed has no limit.
	NVLinkErrorLimits map[string]Figure `yaml:"nvlinkErrorLimits" json:"nvlinkErrorLimits"` // errors a link
}

// Node is one server.
type Node struct {
	GPUs Figure `yaml:"gpus" json:"gpus"`
	HCAs Figure `yaml:"hcas" json:"hcas"` // compute-fabric ports (rails) a node
	// NVLinkDomain is the number of nodes that one set of NVSwitches connects. 1: the switches are
	// in the node, which runs their fabric manager; more: they are outside of it. Nil without
	// NVSwitches.
	NVLinkDomain *Figure `yaml:"nvlinkDomain,omitempty" json:"nvlinkDomain,omitempty"`
	Power        Figure  `yaml:"power" json:"power"`   // kW, maximum a node
	Heat         Figure  `yaml:"heat" json:"heat"`     // kW to be removed a node
	Weight       Figure  `yaml:"weight" json:"weight"` // kg a node
	// RequiredDiagnostics are the dcgmi diag tests that must say Pass, by DCGM
	// major version ("3", "4"), in the names that version prints.
	RequiredDiagnostics map[string][]string `yaml:"requiredDiagnostics" json:"requiredDiagnostics"`
	// DiagnosticLevel is the -r argument.
	DiagnosticLevel Figure `yaml:"diagnosticLevel" json:"diagnosticLevel"`
	MaxRemappedRows Figure `yaml:"maxRemappedRows" json:"maxRemappedRows"` // of either kind, a GPU
	// MaxCorrectableSRAM and MaxCorrectableDRAM are how many corrected errors a GPU may
	// have counted since the driver was loaded, and in its life.
	MaxCorrectableSRAM Figure `yaml:"maxCorrectableSRAM" json:"maxCorrectableSRAM"`
	MaxCorrectableDRAM Figure `yaml:"maxCorrectableDRAM" json:"maxCorrectableDRAM"`
	// Memory is what a host has at least (MemTotal); MemorySpread is how far below the
	// median of all hosts one may be.
	Memory       Figure `yaml:"memory" json:"memory"`             // GiB
	MemorySpread Figure `yaml:"memorySpread" json:"memorySpread"` // fraction
	// MaxClockSkew is how far a host's clock may be from the others'.
	MaxClockSkew Figure `yaml:"maxClockSkew" json:"maxClockSkew"` // s
	// CPUGovernors are the CPU frequency governors that a host may have; empty where the
	// drivers' own defaults will do.
	CPUGovernors []string `yaml:"cpuGovernors,omitempty" json:"cpuGovernors,omitempty"`
	// XIDs classifies driver error codes: class ("isolate", "reboot", "reset",
	// "monitor", "ignore") to codes. A code in no class is treated as "monitor".
	XIDs      map[string][]int `yaml:"xids" json:"xids"`
	XIDSource string           `yaml:"xidSource" json:"xidSource"`
	// ResetSXIDs are the non-fatal error codes of NVSwitches whose recovery is a reset or a restart.
	ResetSXIDs []int  `yaml:"resetSxids,omitempty" json:"resetSxids,omitempty"`
	SXIDSource string `yaml:"sxidSource,omitempty" json:"sxidSource,omitempty"`
	// FaultClockReasons are the throttle reasons, in nvidia-smi's XML names
	// without the clocks_event_reason_ prefix, that are faults.
	FaultClockReasons []string `yaml:"faultClockReasons" json:"faultClockReasons"`
}

// Fabric is the compute network.
type Fabric struct {
	// Kind is InfiniBand, RoCE, EFA or TCPXO; NoFabric without a compute fabric.
	Kind string `yaml:"kind" json:"kind"`
	Rate Figure `yaml:"rate" json:"rate"` // Gb/s a link
	// Width and the fields below are of an InfiniBand subnet; zero or empty for other fabrics.
	Width Figure `yaml:"width" json:"width"` // lanes a link
	// LaneSpeed is what iblinkinfo prints a lane.
	LaneSpeed Figure `yaml:"laneSpeed" json:"laneSpeed"` // Gb/s
	// CounterLimits are the highest increases over a soak, by the counter's name as
	// ibqueryerrors prints it; for RoCE as ethtool -S or hw_counters. A counter not listed has
	// no limit.
	CounterLimits map[string]Figure `yaml:"counterLimits" json:"counterLimits"`
	// NotErrors are counters of ibqueryerrors that do not count errors of a link, each
	// with its source. Any other counter without a limit is reported when it grows.
	NotErrors map[string]string `yaml:"notErrors,omitempty" json:"notErrors,omitempty"`
	// RequiredStages are the ibdiagnet summary rows that must be present.
	RequiredStages []string `yaml:"requiredStages" json:"requiredStages"`
	// RoCE are the limits of a RoCE fabric; nil for other fabrics.
	RoCE *RoCELimits `yaml:"roce,omitempty" json:"roce,omitempty"`
}

// RoCELimits are what the ports of a RoCE fabric must show.
type RoCELimits struct {
	MTU       Figure `yaml:"mtu" json:"mtu"`             // bytes, active MTU of RDMA
	NetdevMTU Figure `yaml:"netdevMTU" json:"netdevMTU"` // bytes, at least, of the network device
	// MaxPause is the highest part of the soak in which a port may be paused, or pause its peer.
	MaxPause Figure `yaml:"maxPause" json:"maxPause"` // fraction
}

// Collective is what nccl-tests reach.
type Collective struct {
	// Ceilings are the expected all_reduce busbw figures by node count;
	// see CeilingFor for other counts.
	Ceilings []Ceiling `yaml:"ceilings" json:"ceilings"`
	// ScaleLoss is how much less is expected for each doubling of nodes beyond the largest
	// row; nil: as much as there.
	ScaleLoss *Figure `yaml:"scaleLoss,omitempty" json:"scaleLoss,omitempty"` // fraction
	// Suite has the published figures of other collectives than all-reduce, by name.
	Suite map[string]Published `yaml:"suite,omitempty" json:"suite,omitempty"`
	// SuiteFloor is the part of the rate of the links that is the class floor of a collective without a
	// published figure. Nil: it has no limit, as in profiles of earlier versions.
	SuiteFloor *Figure `yaml:"suiteFloor,omitempty" json:"suiteFloor,omitempty"` // fraction
	// MinFraction of the ceiling that is a pass.
	MinFraction Figure `yaml:"minFraction" json:"minFraction"`
	// LargestSizes is the number of largest sizes that are compared with the ceiling.
	LargestSizes Figure `yaml:"largestSizes" json:"largestSizes"`
	MinBytes     string `yaml:"minBytes" json:"minBytes"`
	MaxBytes     string `yaml:"maxBytes" json:"maxBytes"`
	Repetitions  Figure `yaml:"repetitions" json:"repetitions"`
	// RatioTolerance of busbw/algbw against the collective's factor, relative.
	RatioTolerance Figure `yaml:"ratioTolerance" json:"ratioTolerance"`
	// Transports are the allowed inter-node transports, as NCCL names them ("NET/IB").
	Transports []string `yaml:"transports" json:"transports"`
	GPUDirect  bool     `yaml:"gpuDirect" json:"gpuDirect"`
	// NVLS says that NVLink SHARP must be available on every GPU.
	NVLS bool `yaml:"nvls" json:"nvls"`
}

// Ceiling is one row of Collective.Ceilings.
type Ceiling struct {
	Nodes int    `yaml:"nodes" json:"nodes"`
	Busbw Figure `yaml:"busbw" json:"busbw"` // GB/s
	// ClassFloor marks a figure without a published measurement: the least that a healthy fabric
	// of its class gives. It is the limit itself, not a part of it, and hardware may exceed it.
	ClassFloor bool `yaml:"classFloor,omitempty" json:"classFloor,omitempty"`
}

// Training is what a training job has to show.
type Training struct {
	MinMFU      Figure `yaml:"minMFU" json:"minMFU"`           // fraction
	WarmupSteps Figure `yaml:"warmupSteps" json:"warmupSteps"` // steps dropped
	MaxP95P50   Figure `yaml:"maxP95P50" json:"maxP95P50"`     // ratio of step times
	MaxCV       Figure `yaml:"maxCV" json:"maxCV"`             // fraction
	MaxDrift    Figure `yaml:"maxDrift" json:"maxDrift"`       // fraction over the run
	MaxRankLag  Figure `yaml:"maxRankLag" json:"maxRankLag"`   // slowest rank over median, fraction
	MaxGPULag   Figure `yaml:"maxGPULag" json:"maxGPULag"`     // slowest GPU on its own over median; slowest rank of Megatron's reports over the fastest; fraction
	StartWindow Figure `yaml:"startWindow" json:"startWindow"` // s between first and last rank
}

// Inference is the default objective of a served model; a site may set its own.
type Inference struct {
	TTFTp99 Figure `yaml:"ttftP99" json:"ttftP99"` // ms
	TPOTp99 Figure `yaml:"tpotP99" json:"tpotP99"` // ms
	ITLp99  Figure `yaml:"itlP99" json:"itlP99"`   // ms
	// MaxClientStall is how long the load generator may not get to run for its
	// latencies to be the server's.
	MaxClientStall Figure `yaml:"maxClientStall" json:"maxClientStall"` // ms
}

// GPUStack is what the cluster's GPU software must show.
type GPUStack struct {
	// GangDeadline is how long a scheduler may take to decide about a gang.
	GangDeadline Figure `yaml:"gangDeadline" json:"gangDeadline"` // s
	// GangSettle is how long a decision must stand before it counts.
	GangSettle Figure `yaml:"gangSettle" json:"gangSettle"` // s
}

// Telemetry is what monitoring must show.
type Telemetry struct {
	// Freshness: a sample may be this many scrape intervals old.
	Freshness Figure `yaml:"freshness" json:"freshness"`
	// MinUtilUnderLoad is what DCGM_FI_DEV_GPU_UTIL must reach under our load.
	MinUtilUnderLoad Figure `yaml:"minUtilUnderLoad" json:"minUtilUnderLoad"` // %
	// Settle is how many scrape intervals every series has to appear in.
	Settle Figure `yaml:"settle" json:"settle"`
	// RiseWithin is how long the series may take to follow a load, its start included; after a
	// late start they have Settle.
	RiseWithin Figure `yaml:"riseWithin" json:"riseWithin"` // s
	// AlertWithin is how long an alert may take to its receiver.
	AlertWithin Figure `yaml:"alertWithin" json:"alertWithin"` // s
}
