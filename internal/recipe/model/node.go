package model

// KindNodeProfile is a file under nodes/, KindFootprint one under footprints/,
// KindAccelerators is accelerators.yaml.
const (
	KindNodeProfile  = "KWOKNodeProfile"
	KindFootprint    = "Footprint"
	KindAccelerators = "Accelerators"
)

// NodeProfile is the shape of a kind of node.
type NodeProfile struct {
	Header   `yaml:",inline"`
	Metadata NodeMetadata `yaml:"metadata" json:"metadata" need:"true"`
	Spec     NodeSpec     `yaml:"spec" json:"spec" need:"true"`
}

// NodeMetadata names a profile; its labels choose it.
type NodeMetadata struct {
	Name   string     `yaml:"name" json:"name" need:"true"`
	Labels NodeLabels `yaml:"labels" json:"labels" need:"true"`
}

// NodeLabels say when a profile is used.
type NodeLabels struct {
	// Provider is the service of the criteria; it is the name of the directory too.
	Provider string `yaml:"provider" json:"provider" need:"true"`
	NodeType string `yaml:"nodeType" json:"nodeType" need:"true" enum:"system,accelerated"`
	// Accelerator is that of the criteria; profiles of system nodes have none.
	Accelerator string `yaml:"accelerator,omitempty" json:"accelerator,omitempty"`
	// Default is the one of several of an accelerator that is tested on.
	Default string `yaml:"default,omitempty" json:"default,omitempty" enum:"true,false"`
	// Generic is the one that recipes of the provider without an accelerator are tested on.
	Generic string `yaml:"generic,omitempty" json:"generic,omitempty" enum:"true,false"`
}

// NodeSpec is what such a node has.
type NodeSpec struct {
	InstanceType string `yaml:"instanceType" json:"instanceType" need:"true"`
	Arch         string `yaml:"arch" json:"arch" need:"true" enum:"amd64,arm64"`
	OSImage      string `yaml:"osImage,omitempty" json:"osImage,omitempty"`
	// Count is how many nodes a test makes; 0: 4 with GPUs, 2 without.
	Count  int      `yaml:"count,omitempty" json:"count,omitempty" min:"0"`
	Region string   `yaml:"region,omitempty" json:"region,omitempty"`
	Zones  []string `yaml:"zones,omitempty" json:"zones,omitempty"`
	// Resources are the node's capacity, as Kubernetes quantities.
	Resources NodeResources `yaml:"resources" json:"resources" need:"true"`
	// Allocatable is what the kubelet leaves for pods; what is absent is as in resources.
	Allocatable       NodeResources     `yaml:"allocatable,omitempty" json:"allocatable,omitzero"`
	GPU               *NodeGPU          `yaml:"gpu,omitempty" json:"gpu,omitempty"`
	Labels            map[string]string `yaml:"labels,omitempty" json:"labels,omitempty"`
	Taints            []NodeTaint       `yaml:"taints,omitempty" json:"taints,omitempty"`
	ExtendedResources []NodeDevice      `yaml:"extendedResources,omitempty" json:"extendedResources,omitempty"`
	// Discovered are labels that a node gets, by the component that finds them.
	Discovered map[string]map[string]string `yaml:"discovered,omitempty" json:"discovered,omitempty"`
	Sources    map[string]string            `yaml:"sources,omitempty" json:"sources,omitempty"`
	Unverified []string                     `yaml:"unverified,omitempty" json:"unverified,omitempty"`
}

// NodeResources are Kubernetes quantities.
type NodeResources struct {
	CPU     string `yaml:"cpu,omitempty" json:"cpu,omitempty"`
	Memory  string `yaml:"memory,omitempty" json:"memory,omitempty"`
	Storage string `yaml:"storage,omitempty" json:"storage,omitempty"`
	Pods    string `yaml:"pods,omitempty" json:"pods,omitempty"`
}

// NodeGPU is what GPU feature discovery says of the node's GPUs.
type NodeGPU struct {
	Product string `yaml:"product" json:"product" need:"true"`
	Count   int    `yaml:"count" json:"count" need:"true" min:"1"`
	// Memory of one GPU in MiB.
	Memory      int    `yaml:"memory,omitempty" json:"memory,omitempty" min:"0"`
	Driver      string `yaml:"driver,omitempty" json:"driver,omitempty"`
	DriverMajor string `yaml:"driverMajor,omitempty" json:"driverMajor,omitempty"`
	DriverMinor string `yaml:"driverMinor,omitempty" json:"driverMinor,omitempty"`
}

// NodeTaint is a taint that the node registers with.
type NodeTaint struct {
	Key    string `yaml:"key" json:"key" need:"true"`
	Value  string `yaml:"value,omitempty" json:"value,omitempty"`
	Effect string `yaml:"effect" json:"effect" need:"true" enum:"NoSchedule,PreferNoSchedule,NoExecute"`
}

// NodeDevice is an extended resource of the node.
type NodeDevice struct {
	Name     string `yaml:"name" json:"name" need:"true"`
	Quantity string `yaml:"quantity" json:"quantity" need:"true"`
	Use      string `yaml:"use" json:"use" need:"true" enum:"gpu,fabric"`
	// From is provider, or the component without which the node does not have it.
	From string `yaml:"from" json:"from" need:"true"`
	// Request is what one pod that takes the whole node asks for; all of it when absent.
	Request string `yaml:"request,omitempty" json:"request,omitempty"`
}

// Accelerators says of each accelerator what profiles can't say of themselves:
// what is true of it whatever the provider.
type Accelerators struct {
	Header       `yaml:",inline"`
	Accelerators []Accelerator `yaml:"accelerators" json:"accelerators" need:"true"`
}

// Accelerator is one kind of GPU.
type Accelerator struct {
	// Name as in criteria.
	Name string `yaml:"name" json:"name" need:"true"`
	// Arch of the hosts it is built into, each of them.
	Arch []string `yaml:"arch" json:"arch" need:"true"`
	// Products that GPU feature discovery may report for it.
	Products []string `yaml:"products" json:"products" need:"true"`
	// MaxPerNode is the most of them in one node that can be bought.
	MaxPerNode int `yaml:"maxPerNode" json:"maxPerNode" need:"true" min:"1"`
	// Workload is what the pods of users carry for it where a provider asks for more
	// than tolerating the GPU taint.
	Workload []AcceleratorWorkload `yaml:"workload,omitempty" json:"workload,omitempty"`
	Sources  map[string]string     `yaml:"sources,omitempty" json:"sources,omitempty"`
	// Unverified are the figures that have no source.
	Unverified []string `yaml:"unverified,omitempty" json:"unverified,omitempty"`
}

// AcceleratorWorkload is what providers document that a pod has to carry to run on
// nodes with the accelerator.
type AcceleratorWorkload struct {
	// Providers are services as in criteria.
	Providers    []string          `yaml:"providers" json:"providers" need:"true"`
	NodeSelector map[string]string `yaml:"nodeSelector,omitempty" json:"nodeSelector,omitempty"`
	// Tolerations are those that the user writes, or that the provider's admission adds.
	Tolerations []NodeToleration `yaml:"tolerations,omitempty" json:"tolerations,omitempty"`
	Source      string           `yaml:"source" json:"source" need:"true"`
}

// NodeToleration is a toleration as in the Kubernetes API.
type NodeToleration struct {
	Key      string `yaml:"key" json:"key" need:"true"`
	Operator string `yaml:"operator,omitempty" json:"operator,omitempty" enum:"Exists,Equal"`
	Value    string `yaml:"value,omitempty" json:"value,omitempty"`
	Effect   string `yaml:"effect,omitempty" json:"effect,omitempty" enum:"NoSchedule,PreferNoSchedule,NoExecute"`
}
