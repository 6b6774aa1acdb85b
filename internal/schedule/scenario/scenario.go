package scenario

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/firstlight/firstlight/internal/recipe/footprint"
)

// Scenario is the scheduler's input for a recipe, with data for the judge's remedies. Its
// JSON is stored; the fingerprint covers only the part that the scheduler reads.
type Scenario struct {
	// Recipe name, for messages.
	Recipe string `json:"-"`
	// Nodes in order: system nodes, GPU nodes.
	Nodes []Node `json:"nodes"`
	// Components in deployment order.
	Components []footprint.Component `json:"components"`
	// Probe is the GPU workload of the intent.
	Probe Probe `json:"probe"`
	// Controls must fail; in order.
	Controls []Control `json:"controls"`
	// Advice for remedies, by component.
	Advice map[string]Advice `json:"advice,omitempty"`
}

// Advice names the places that configure where a component's pods run.
type Advice struct {
	// Footprint is the file that lists the pods.
	Footprint string `json:"footprint,omitempty"`
	// Selectors and Tolerations are value paths that the chart reads, by the registry:
	// of system pods and of those on GPU nodes.
	Selectors   map[footprint.Class][]string `json:"selectors,omitempty"`
	Tolerations map[footprint.Class][]string `json:"tolerations,omitempty"`
}

// Node is one simulated node.
type Node struct {
	// Name within the scenario: system-0, gpu-3, half-gpus-0. Clusters get it with the
	// scenario's own prefix.
	Name  string          `json:"name"`
	Class footprint.Class `json:"class"`
	// Control is the control that the node is for; empty: the recipe's own.
	Control string `json:"control,omitempty"`
	// Shape is the profile's name, for people.
	Shape string `json:"shape,omitempty"`
	// Labels and Taints that it registers with, those that every kubelet sets
	// among them (kubernetes.io/arch, os, hostname aside; instance type, zone, region).
	Labels map[string]string `json:"labels"`
	Taints []corev1.Taint    `json:"taints,omitempty"`
	// Capacity and Allocatable from the start, without the resources of Grants.
	Capacity    corev1.ResourceList `json:"-"`
	Allocatable corev1.ResourceList `json:"allocatable"`
	// Grants are extended resources that appear once a component serves the node.
	Grants []Grant `json:"grants,omitempty"`
	// Lacks are those that its shape could have, if the recipe had the component; for people.
	Lacks []Grant `json:"lacks,omitempty"`
	// Discovered are labels, by the component whose discovering pod finds them.
	Discovered map[string]map[string]string `json:"discovered,omitempty"`
}

// Grant is an extended resource that a component brings to a node: it exists
// once every accelerated DaemonSet of the component that covers the node has its pod
// Running there, and one of them says that it brings it.
type Grant struct {
	Component string              `json:"component"`
	Resource  corev1.ResourceName `json:"resource"`
	Quantity  int64               `json:"quantity"`
}

// Kinds of probes.
const (
	// Gang: pods that are bound all or not at all, one a GPU node.
	Gang = "gang"
	// Replicas: pods of a Deployment.
	Replicas = "replicas"
)

// Probe is a GPU workload.
type Probe struct {
	// Kind is gang or replicas.
	Kind string `json:"kind"`
	// Size is how many pods.
	Size int32 `json:"size"`
	// Pod asks for GPUs and fabric of a whole node, and for the accelerator's own
	// architecture.
	Pod footprint.Pod `json:"pod"`
}

// Names of the controls.
const (
	// DropToleration: the probe's pod without tolerations must stay unbound because
	// of the GPU taint.
	DropToleration = "drop-toleration"
	// DropSelector: an operand's DaemonSet without selector and affinity must be
	// found to cover nodes off its class.
	DropSelector = "drop-selector"
	// HalfGPUs: the probe's pod must not fit on a node with half the GPUs.
	HalfGPUs = "half-gpus"
	// WrongArch: the probe's pod must not be bound on a node of another architecture.
	WrongArch = "wrong-arch"
	// HalfGang: of two pods that each fill the node with half the GPUs, and are a
	// gang, none may be bound, though one would fit.
	HalfGang = "half-gang"
)

// Control is a workload that must fail for one reason.
type Control struct {
	Name string `json:"name"`
	// Workload to create; Size pods of a gang when Gang is set.
	Workload footprint.Workload `json:"workload"`
	Gang     bool               `json:"gang,omitempty"`
	// Of is the component and workload that it is a copy of; empty if it is not a copy. For users.
	Of string `json:"of,omitempty"`
	// Nodes that its pods are held to, by name within the scenario.
	Nodes []string `json:"nodes"`
	// Reason is a required part of the scheduler's own message, such as
	// "Insufficient nvidia.com/gpu"; empty of DropSelector, which the judge finds.
	Reason string `json:"reason,omitempty"`
	// NotApplicable is the reason why the recipe cannot have this control; then the other fields are empty.
	NotApplicable string `json:"notApplicable,omitempty"`
}
