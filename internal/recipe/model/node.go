package model

// KindNodeProfile is a file in nodes/, KindFootprint one in footprints/, KindAccelerators is
// accelerators.yaml.
const (
	KindNodeProfile  = "KWOKNodeProfile"
	KindFootprint    = "Footprint"
	KindAccelerators = "Accelerators"
)

// NodeProfile describes a kind of node.
type NodeProfile struct {
	Header   `yaml:",inline"`
	Metadata NodeMetadata `yaml:"metadata" json:"metadata" need:"true"`
	Spec     NodeSpec     `yaml:"spec" json:"spec" need:"true"`
}

// NodeMetadata names a profile; its labels select it.
type NodeMetadata struct {
	Name   string     `yaml:"name" json:"name" need:"true"`
	Labels NodeLabels `yaml:"labels" json:"labels" need:"true"`
}

// NodeLabels select a profile.
type NodeLabels struct {
	// Provider is the service of the criteria, and the name of the directory.
	Provider string `yaml:"provider" json:"provider" need:"true"`
	NodeType string `yaml:"nodeType" json:"nodeType" need:"true" enum:"system,accelerated"`
	// Accelerator of the criteria; profiles of system nodes have none.
	Accelerator string `yaml:"accelerator,omitempty" json:"accelerator,omitempty"`
	// Default marks the profile to test on among several of an accelerator.
	Default string `yaml:"default,omitempty" json:"default,omitempty" enum:"true,false"`
	// Generic marks the profile to test on for recipes of the provider without an accelerator.
	Generic string `yaml:"generic,omitempty" json:"generic,omitempty" enum:"true,false"`
}

// NodeSpec describes the node.
type NodeSpec struct {
	InstanceType string `yaml:"instanceType" json:"instanceType" need:"true"`
	Arch         string `yaml:"arch" json:"arch" need:"true" enum:"amd64,arm64"`
	OSImage      string `yaml:"osImage,omitempty" json:"osImage,omitempty"`
	// Count is the number of nodes in a test; 0: 4 with GPUs, 2 without.
	Count  int      `yaml:"count,omitempty" json:"count,omitempty" min:"0"`
	Region string   `yaml:"region,omitempty" json:"region,omitempty"`
	Zones  []string `yaml:"zones,omitempty" json:"zones,omitempty"`
	// Resources are the node's capacity, as Kubernetes quantities.
	Resources NodeResources `yaml:"resources" json:"resources" need:"true"`
	// Allocatable is available for pods; missing values are those of resources.
	Allocatable       NodeResources     `yaml:"allocatable,omitempty" json:"allocatable,omitzero"`
	GPU               *NodeGPU          `yaml:"gpu,omitempty" json:"gpu,omitempty"`
	Labels            map[string]string `yaml:"labels,omitempty" json:"labels,omitempty"`
	Taints            []NodeTaint       `yaml:"taints,omitempty" json:"taints,omitempty"`
	ExtendedResources []NodeDevice      `yaml:"extendedResources,omitempty" json:"extendedResources,omitempty"`
	// Discovered are labels that components set on the node, by component.
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

// NodeGPU describes the node's GPUs as GPU feature discovery reports them.
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
	// From is provider, or the component that provides the device.
	From string `yaml:"from" json:"from" need:"true"`
	// Request is the request of a pod that uses the whole node; default: the quantity.
	Request string `yaml:"request,omitempty" json:"request,omitempty"`
}

// Accelerators has the properties of accelerators that do not depend on a provider.
type Accelerators struct {
	Header       `yaml:",inline"`
	Accelerators []Accelerator `yaml:"accelerators" json:"accelerators" need:"true"`
}

// Accelerator is one kind of GPU.
type Accelerator struct {
	// Name as in criteria.
	Name string `yaml:"name" json:"name" need:"true"`
	// Arch are the CPU architectures that it is available with.
	Arch []string `yaml:"arch" json:"arch" need:"true"`
	// Products are the names that GPU feature discovery may report.
	Products []string `yaml:"products" json:"products" need:"true"`
	// MaxPerNode is the highest number in one node that is sold.
	MaxPerNode int `yaml:"maxPerNode" json:"maxPerNode" need:"true" min:"1"`
	// Workload has the settings that user pods need in addition to tolerating the GPU taint.
	Workload []AcceleratorWorkload `yaml:"workload,omitempty" json:"workload,omitempty"`
	Sources  map[string]string     `yaml:"sources,omitempty" json:"sources,omitempty"`
	// Unverified are the figures without a source.
	Unverified []string `yaml:"unverified,omitempty" json:"unverified,omitempty"`
}

// AcceleratorWorkload has the settings that providers document for pods on nodes with the
// accelerator.
type AcceleratorWorkload struct {
	// Providers are services of the criteria.
	Providers    []string          `yaml:"providers" json:"providers" need:"true"`
	NodeSelector map[string]string `yaml:"nodeSelector,omitempty" json:"nodeSelector,omitempty"`
	// Tolerations that the user sets, or that the provider's admission adds.
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
