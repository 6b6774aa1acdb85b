package site

import "time"

// Site is the whole file. Relative paths in it are relative to the file.
type Site struct {
	APIVersion string `yaml:"apiVersion" json:"apiVersion"`
	Kind       string `yaml:"kind" json:"kind"`
	Name       string `yaml:"name" json:"name"`
	// Spine is what orchestrates the cluster: one of the constants, or single-node without a cluster.
	Spine string `yaml:"spine" json:"spine"`
	// Profile names a shipped hardware profile or a profile file.
	Profile   string    `yaml:"profile" json:"profile"`
	Facility  Facility  `yaml:"facility" json:"facility"`
	Inventory Inventory `yaml:"inventory" json:"inventory"`
	// Groups are GPU nodes of the inventory with a profile of their own; the other nodes have
	// the site's.
	Groups    []Group   `yaml:"groups,omitempty" json:"groups,omitempty"`
	Reach     Reach     `yaml:"reach" json:"reach"`
	Fabric    Fabric    `yaml:"fabric" json:"fabric"`
	NVLink    NVLink    `yaml:"nvlink,omitempty" json:"nvlink,omitzero"`
	GPUStack  GPUStack  `yaml:"gpustack" json:"gpustack"`
	Telemetry Telemetry `yaml:"telemetry" json:"telemetry"`
	Workloads Workloads `yaml:"workloads" json:"workloads"`
	// Slurm is nil for other spines than slurm.
	Slurm *Slurm `yaml:"slurm,omitempty" json:"slurm,omitempty"`
	// Ray is nil for other spines than ray.
	Ray *Ray `yaml:"ray,omitempty" json:"ray,omitempty"`
	// Images has the mirrors of registries. Load applies it to every image.
	Images    Images    `yaml:"images,omitempty" json:"images,omitzero"`
	Autoscale Autoscale `yaml:"autoscale,omitempty" json:"autoscale"`
	// Validation has the settings of firstlight validate; nil: its defaults.
	Validation *Validation `yaml:"validation,omitempty" json:"validation,omitempty"`
	// Prepare lists what to do before a gate is observed. Its exit code is
	// never the criterion.
	Prepare []Prepare `yaml:"prepare,omitempty" json:"prepare,omitempty"`
	// NotApplicable switches gates off, each with its reason.
	NotApplicable map[string]string `yaml:"notApplicable,omitempty" json:"notApplicable,omitempty"`
}

// Validation has the settings of firstlight validate.
type Validation struct {
	// HealthWithin is the longest that an assertion on a component's health is waited
	// for, whatever its file says.
	HealthWithin Duration `yaml:"healthWithin,omitempty" json:"healthWithin,omitempty"`
	// GatewayClass is the one that ai_inference tests; empty: the only one that its controller accepts.
	GatewayClass string `yaml:"gatewayClass,omitempty" json:"gatewayClass,omitempty"`
}

// GatewayClass is the one that the site names for ai_inference; empty without one.
func (s *Site) GatewayClass() string {
	if s.Validation == nil {
		return ""
	}
	return s.Validation.GatewayClass
}

// HealthWithin is the longest that an assertion on a component's health is waited for.
func (s *Site) HealthWithin() time.Duration {
	if s.Validation == nil || s.Validation.HealthWithin == 0 {
		return DefaultHealthWithin
	}
	return s.Validation.HealthWithin.D()
}

// Facility is what gate 1 judges.
type Facility struct {
	SignOff SignOff `yaml:"signOff" json:"signOff"`
	Power   Budget  `yaml:"power" json:"power"`     // kW
	Cooling Budget  `yaml:"cooling" json:"cooling"` // kW
	Weight  Budget  `yaml:"weight" json:"weight"`   // kg
	// Redfish lists the controllers to read power from; may be empty.
	Redfish []Redfish `yaml:"redfish,omitempty" json:"redfish,omitempty"`
}

// SignOff is the facility's attestation.
type SignOff struct {
	By        string `yaml:"by" json:"by"`
	Role      string `yaml:"role" json:"role"`
	Reference string `yaml:"reference" json:"reference"`
	// At and Expires are dates or times, RFC 3339 ("2026-11-01" or "2026-11-01T09:00:00Z").
	At      string `yaml:"at" json:"at"`
	Expires string `yaml:"expires" json:"expires"`
}

// Budget is what the facility provides of something: a quantity with its unit,
// such as "120 kW" or "2000 kg".
type Budget struct {
	Provided Quantity `yaml:"provided" json:"provided"`
	// Reserve is the fraction (0..1) to be kept free.
	Reserve float64 `yaml:"reserve,omitempty" json:"reserve,omitempty"`
}

// Redfish is one controller.
type Redfish struct {
	Name string `yaml:"name" json:"name"`
	URL  string `yaml:"url" json:"url"`
	User string `yaml:"user,omitempty" json:"user,omitempty"`
	// PasswordFile holds the password; never the site file.
	PasswordFile string `yaml:"passwordFile,omitempty" json:"passwordFile,omitempty"`
	CAFile       string `yaml:"caFile,omitempty" json:"caFile,omitempty"`
	// PlainHTTP sends the password to an http URL, in clear; without it that is refused.
	PlainHTTP bool `yaml:"plainHTTP,omitempty" json:"plainHTTP,omitempty"`
	// PDUs are the rack PDUs that must be energised, by their Redfish Id.
	PDUs []string `yaml:"pdus,omitempty" json:"pdus,omitempty"`
	// Chassis are the chassis whose power is read, by their Redfish Id.
	Chassis []string `yaml:"chassis,omitempty" json:"chassis,omitempty"`
}

// Inventory lists the required nodes.
type Inventory struct {
	// Nodes are the GPU nodes. Name is the Kubernetes node name and the host name.
	Nodes []Node `yaml:"nodes" json:"nodes"`
	// SystemNodes carry no GPUs.
	SystemNodes []Node `yaml:"systemNodes,omitempty" json:"systemNodes,omitempty"`
	// OtherNodes are the GPU nodes of the cluster that another site has, by names or patterns with * and ?.
	OtherNodes []string `yaml:"otherNodes,omitempty" json:"otherNodes,omitempty"`
	// LeftOut are the names of GPU nodes of the site that are not judged; see Without.
	LeftOut []string `yaml:"-" json:"-"`
	// Others are those of LeftOut that have not failed: they are judged by another gate or were
	// accepted before; see Part.
	Others []Node `yaml:"-" json:"-"`
	// DriverVersion, when given, is the driver that every node must have.
	DriverVersion string `yaml:"driverVersion,omitempty" json:"driverVersion,omitempty"`
}

// Node is one host.
type Node struct {
	Name string `yaml:"name" json:"name"`
	// Address is host:port of its SSH server; empty means Name, port 22.
	Address string `yaml:"address,omitempty" json:"address,omitempty"`
	Rack    string `yaml:"rack,omitempty" json:"rack,omitempty"`
}

// Reach is how to get at the cluster.
type Reach struct {
	SSH SSH `yaml:"ssh" json:"ssh"`
	// GPUTools is where nvidia-smi and dcgmi are run: ToolsOnHost, ToolsInPods, or ToolsAuto.
	GPUTools     string     `yaml:"gpuTools,omitempty" json:"gpuTools,omitempty"`
	Kubernetes   Kubernetes `yaml:"kubernetes" json:"kubernetes"`
	Prometheus   Endpoint   `yaml:"prometheus" json:"prometheus"`
	Alertmanager Endpoint   `yaml:"alertmanager" json:"alertmanager"`
	// Charts are mirrors of Helm charts: the chart as preparations name it (with a repository:
	// REPOSITORY/CHART), and the directory, archive or oci reference that replaces it.
	Charts map[string]string `yaml:"charts,omitempty" json:"charts,omitempty"`
	// AlertmanagerReplicas are the other members of Alertmanager's cluster.
	AlertmanagerReplicas []Endpoint `yaml:"alertmanagerReplicas,omitempty" json:"alertmanagerReplicas,omitempty"`
}

// The places of nvidia-smi and dcgmi.
const (
	ToolsOnHost = "host" // over SSH
	ToolsInPods = "pod"  // in the GPU Operator's pods, through the API server
	ToolsAuto   = "auto" // on hosts that have them, else in pods
)

// Kubernetes names the cluster; flags override it.
type Kubernetes struct {
	Kubeconfig string `yaml:"kubeconfig,omitempty" json:"kubeconfig,omitempty"`
	Context    string `yaml:"context,omitempty" json:"context,omitempty"`
}

// The topologies of a compute fabric.
const (
	// RailOptimised: each leaf serves the same HCAs of all its nodes.
	RailOptimised = "rail-optimised"
	// FatTree: an HCA may be at any leaf.
	FatTree = "fat-tree"
)

// Fabric has the settings of gate 2 that the profile does not have.
type Fabric struct {
	// Switches that the subnet must hold, by their node descriptions or GUIDs ("0x..."); their count enters the node total.
	Switches []string `yaml:"switches" json:"switches"`
	// HCAs are the compute-fabric device names a node ("mlx5_0"...). NCCL must
	// use exactly these. A file may have patterns, which are replaced when it is read.
	HCAs  []string `yaml:"hcas" json:"hcas"`
	Links int      `yaml:"links" json:"links"` // links the subnet must show up: HCA to switch plus switch to switch
	// Topology is RailOptimised, FatTree, or empty where the site does not say: then gate
	// fabric goes by what most nodes have.
	Topology string `yaml:"topology,omitempty" json:"topology,omitempty"`
	// Others are nodes of others on the subnet (UFM, storage, login nodes): patterns of their node
	// descriptions ("storage-*"; * matches no slash), or GUIDs ("0x..."). The gate does not judge them.
	Others []string `yaml:"others,omitempty" json:"others,omitempty"`
	// Design is a file in the format of ibnetdiscover with every cable of the fabric; empty:
	// cables are not compared with a design.
	Design string `yaml:"design,omitempty" json:"design,omitempty"`
	// Subnets are the InfiniBand subnets of a fabric that has several. Each has the keys Switches, Links,
	// Topology, Others and Design of its own.
	Subnets []Subnet `yaml:"subnets,omitempty" json:"subnets,omitempty"`
	// Via is the port by which the tools of the fabric see it; zero: the one that they choose.
	Via Via `yaml:"-" json:"-"`
	// RoCE is what the hosts of a RoCE fabric must have; nil for other fabrics.
	RoCE *RoCE `yaml:"roce,omitempty" json:"roce,omitempty"`
	// Soak is how long error counters are watched.
	Soak Duration `yaml:"soak" json:"soak"`
	// NetworkResource is the extended resource of an RDMA port ("rdma/ib").
	NetworkResource string `yaml:"networkResource" json:"networkResource"`
	// NetworkResourceCount a node.
	NetworkResourceCount int `yaml:"networkResourceCount" json:"networkResourceCount"`
}

// RoCE is how the hosts of a RoCE fabric treat RDMA traffic.
type RoCE struct {
	// Priority of RDMA traffic, 0 to 7: PFC and ECN must be enabled on it.
	Priority *int `yaml:"priority" json:"priority"`
	// DSCP of RDMA traffic, 0 to 63, which must have Priority; nil where priorities come from
	// VLAN tags.
	DSCP *int `yaml:"dscp,omitempty" json:"dscp,omitempty"`
	// Without are mechanisms that the fabric does not use: WithoutPFC, WithoutECN.
	Without []string `yaml:"without,omitempty" json:"without,omitempty"`
}

// The mechanisms of RoCE.Without.
const (
	WithoutPFC = "pfc" // a lossy fabric
	WithoutECN = "ecn"
)

// GPUStack has the settings of gate 4.
type GPUStack struct {
	// ManagedBy installs driver and device plugin: ManagedByOperator or ManagedByProvider.
	ManagedBy string `yaml:"managedBy,omitempty" json:"managedBy,omitempty"`
	// Provider is the cloud, a name of Providers, with ManagedByProvider; empty: another one.
	Provider string `yaml:"provider,omitempty" json:"provider,omitempty"`
	// Namespace of the GPU Operator; of the provider's DaemonSets.
	Namespace string `yaml:"namespace" json:"namespace"`
	// ClusterPolicy's name; empty with ManagedByProvider.
	ClusterPolicy string `yaml:"clusterPolicy" json:"clusterPolicy"`
	// GPUCluster's name, in place of the ClusterPolicy: the operator offers GPUs by DRA, from v26.7 on.
	GPUCluster string `yaml:"gpuCluster,omitempty" json:"gpuCluster,omitempty"`
	// Operands are the DaemonSets that must be complete on the GPU nodes. With ManagedByProvider
	// they are patterns (path.Match), as a provider has a DaemonSet for each kind of node; none
	// if the device plugin is a part of the node's image.
	Operands []string `yaml:"operands" json:"operands"`
	// GangScheduler is native, kai, volcano, kueue, or "auto".
	GangScheduler string `yaml:"gangScheduler" json:"gangScheduler"`
	// JobKind is the kind of job of the gangs of gates 4, 6 and 7: job, jobset, trainjob, mpijob,
	// vcjob (Volcano's Job), or "auto": the first that the cluster serves and the scheduler places.
	JobKind string `yaml:"jobKind,omitempty" json:"jobKind,omitempty"`
	// Queue for KAI, Volcano and Kueue.
	Queue string `yaml:"queue,omitempty" json:"queue,omitempty"`
	// DeviceClass offers the GPUs through dynamic resource allocation; empty: the device plugin does.
	DeviceClass string `yaml:"deviceClass,omitempty" json:"deviceClass,omitempty"`
	// DRADriver is DRANone where no DRA driver for GPUs is installed; empty: there may be one.
	DRADriver string `yaml:"draDriver,omitempty" json:"draDriver,omitempty"`
	// OtherDevicePlugins are images of device plugins that do not offer nvidia.com/gpu, and that
	// firstlight does not know: patterns (path.Match) of the end of the repository's path.
	OtherDevicePlugins []string `yaml:"otherDevicePlugins,omitempty" json:"otherDevicePlugins,omitempty"`
	// MIG is how the GPUs of every GPU node are partitioned; nil: they are whole.
	MIG *MIG `yaml:"mig,omitempty" json:"mig,omitempty"`
}

// Telemetry has the settings of gate 5.
type Telemetry struct {
	ScrapeInterval Duration `yaml:"scrapeInterval" json:"scrapeInterval"`
	// Receiver that the synthetic alert has to reach, by Alertmanager's name.
	Receiver string `yaml:"receiver" json:"receiver"`
	// Alert is how that is proven.
	Alert AlertProof `yaml:"alert,omitempty" json:"alert"`
	// Matchers are labels that Prometheus' series of this cluster have ({cluster: prod}). They are
	// added to every query: a Prometheus may have series of other clusters.
	Matchers map[string]string `yaml:"matchers,omitempty" json:"matchers,omitempty"`
	// LoadImage runs a GPU load (DCGM's proftester).
	LoadImage string `yaml:"loadImage" json:"loadImage"`
	// Pod is a strategic merge patch of the pod template; see package podpatch.
	Pod map[string]any `yaml:"pod,omitempty" json:"pod,omitempty"`
}

// Workloads are the jobs of gates 6 to 8.
type Workloads struct {
	// Pod is a strategic merge patch of the pods of gates 4 to 8, applied before that of the
	// gate; it has no containers.
	Pod        map[string]any     `yaml:"pod,omitempty" json:"pod,omitempty"`
	Collective CollectiveWorkload `yaml:"collective" json:"collective"`
	Training   TrainingWorkload   `yaml:"training" json:"training"`
	Inference  InferenceWorkload  `yaml:"inference" json:"inference"`
}

// CollectiveWorkload runs nccl-tests: all_reduce_perf, and what Suite, ByRail and ByNVLinkDomain add.
type CollectiveWorkload struct {
	Image    string   `yaml:"image" json:"image"`
	Timeout  Duration `yaml:"timeout" json:"timeout"`
	MinBytes string   `yaml:"minBytes,omitempty" json:"minBytes,omitempty"` // profile's when empty
	MaxBytes string   `yaml:"maxBytes,omitempty" json:"maxBytes,omitempty"`
	// Suite are collectives of profile.CollectiveNames that run after the all-reduce, which always runs.
	Suite []string `yaml:"suite,omitempty" json:"suite,omitempty"`
	// ByRail runs the all-reduce over each of fabric.hcas alone, too.
	ByRail bool `yaml:"byRail,omitempty" json:"byRail,omitempty"`
	// ByNVLinkDomain runs the collectives over each NVLink domain of several nodes alone, too.
	ByNVLinkDomain bool `yaml:"byNVLinkDomain,omitempty" json:"byNVLinkDomain,omitempty"`
	// Pod is a strategic merge patch of the pod template; see package podpatch.
	Pod map[string]any `yaml:"pod,omitempty" json:"pod,omitempty"`
}

// TrainingWorkload runs a training job over every GPU of Nodes nodes.
type TrainingWorkload struct {
	Image string `yaml:"image" json:"image"`
	// Framework is torchtitan or megatron: decides which log lines are read.
	Framework string   `yaml:"framework" json:"framework"`
	Model     string   `yaml:"model" json:"model"`
	Nodes     int      `yaml:"nodes" json:"nodes"` // 0: all GPU nodes
	Steps     int      `yaml:"steps" json:"steps"`
	Timeout   Duration `yaml:"timeout" json:"timeout"`
	MinMFU    float64  `yaml:"minMFU,omitempty" json:"minMFU,omitempty"` // profile's when 0
	// Checkpoint is where jobs of this site write checkpoints; nil: that they can is not proven.
	Checkpoint *Checkpoint `yaml:"checkpoint,omitempty" json:"checkpoint,omitempty"`
	// Pod is a strategic merge patch of the pod template; see package podpatch.
	Pod map[string]any `yaml:"pod,omitempty" json:"pod,omitempty"`
}

// Checkpoint is the file system for checkpoints.
type Checkpoint struct {
	// Directory of every GPU node's host. It must exist there.
	Directory string `yaml:"directory" json:"directory"`
	// SizeGiB is what each pod of the training job writes, reads back and deletes.
	SizeGiB int `yaml:"sizeGiB" json:"sizeGiB"`
}

// InferenceWorkload serves a model and loads it.
type InferenceWorkload struct {
	Image        string   `yaml:"image" json:"image"`
	Model        string   `yaml:"model" json:"model"`
	GPUs         int      `yaml:"gpus" json:"gpus"`
	MaxModelLen  int      `yaml:"maxModelLen" json:"maxModelLen"`
	Prompt       string   `yaml:"prompt" json:"prompt"`
	GoldenPrefix string   `yaml:"goldenPrefix" json:"goldenPrefix"`
	Rate         float64  `yaml:"rate" json:"rate"` // requests/s
	Concurrency  int      `yaml:"concurrency" json:"concurrency"`
	Requests     int      `yaml:"requests" json:"requests"`
	Warmup       int      `yaml:"warmup" json:"warmup"` // requests not measured
	InputTokens  int      `yaml:"inputTokens" json:"inputTokens"`
	OutputTokens int      `yaml:"outputTokens" json:"outputTokens"`
	TTFTp99      Duration `yaml:"ttftP99,omitempty" json:"ttftP99,omitempty"` // profile's when 0
	TPOTp99      Duration `yaml:"tpotP99,omitempty" json:"tpotP99,omitempty"`
	ITLp99       Duration `yaml:"itlP99,omitempty" json:"itlP99,omitempty"`
	Timeout      Duration `yaml:"timeout" json:"timeout"`
	// Client is where the load comes from: ClientCluster (default with a LoadImage) or ClientMachine.
	Client string `yaml:"client,omitempty" json:"client,omitempty"`
	// LoadImage is the image of the load generator (images/loadgen).
	LoadImage string `yaml:"loadImage,omitempty" json:"loadImage,omitempty"`
	// Pod is a strategic merge patch of the pod template; see package podpatch.
	Pod map[string]any `yaml:"pod,omitempty" json:"pod,omitempty"`
}

// Where the load of gate inference comes from.
const (
	// ClientCluster: a Job in the cluster.
	ClientCluster = "cluster"
	// ClientMachine: the machine that runs firstlight, through the API server.
	ClientMachine = "machine"
)

// Prepare is one preparation; exactly one of Command, Playbook, Ansible and Helm is set.
type Prepare struct {
	Gate    string   `yaml:"gate" json:"gate"`
	Command []string `yaml:"command,omitempty" json:"command,omitempty"`
	// Playbook is short for an Ansible block with nothing else.
	Playbook string   `yaml:"playbook,omitempty" json:"playbook,omitempty"`
	Ansible  *Ansible `yaml:"ansible,omitempty" json:"ansible,omitempty"`
	Helm     *Helm    `yaml:"helm,omitempty" json:"helm,omitempty"`
	Timeout  Duration `yaml:"timeout,omitempty" json:"timeout,omitempty"`
}

// Ansible is a playbook that is applied to the GPU nodes in waves, and whose result is judged.
type Ansible struct {
	Playbook string `yaml:"playbook" json:"playbook"`
	// Inventory is a file or directory; empty: that of ansible.cfg.
	Inventory string `yaml:"inventory,omitempty" json:"inventory,omitempty"`
	// Waves is the number of nodes at a time, or their percentage ("25%"); empty: all at once.
	Waves string `yaml:"waves,omitempty" json:"waves,omitempty"`
	// Idempotent false: the playbook does not run a second time on a wave. Default: it does, and must
	// change nothing.
	Idempotent *bool `yaml:"idempotent,omitempty" json:"idempotent,omitempty"`
	// Args are further arguments of ansible-playbook.
	Args []string `yaml:"args,omitempty" json:"args,omitempty"`
}

// Rollout is the playbook of the preparation; nil if it has none.
func (p Prepare) Rollout() *Ansible {
	if p.Ansible == nil && p.Playbook != "" {
		return &Ansible{Playbook: p.Playbook}
	}
	return p.Ansible
}
