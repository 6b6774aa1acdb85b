package gpustack

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/firstlight/firstlight/internal/probe/kube"
	"github.com/firstlight/firstlight/internal/workload"
)

// The kinds of the gate's observations.
const (
	kindPolicy   = "clusterpolicy"
	kindDrivers  = "nvidiadrivers" // driverFigures
	kindOperator = "operator"
	KindNodes    = "nodes"
	kindOperands = "daemonsets"
	kindGang     = "gang-scheduler"
	kindUsage    = "gpu-usage"
	kindSlices   = "resourceslices"
	kindClass    = "deviceclass"
	kindProof    = "gang-proof"
	kindDNS      = "dns"
)

// The targets of the two proofs.
const (
	targetTooLarge = "gang-too-large"
	targetFits     = "gang-fits"
)

// policyFigures is a ClusterPolicy's status.
type policyFigures struct {
	Found      bool              `json:"found"`
	State      string            `json:"state"`
	Generation int64             `json:"generation"`
	Conditions []policyCondition `json:"conditions"`
	// DriverCRD: NVIDIADrivers install the driver, not the policy (spec.driver.useNvidiaDriverCRD).
	DriverCRD bool `json:"driverCRD,omitempty"`
	// Toolkit is of its spec.
	Toolkit *toolkitFigures `json:"toolkit,omitempty"`
}

// driverFigures are the NVIDIADrivers of a cluster, and what they do on the inventory's nodes.
type driverFigures struct {
	// Served: the API server has the resource.
	Served  bool           `json:"served"`
	Drivers []nvidiaDriver `json:"drivers"`
	// Selected are the NVIDIADrivers that select a node, by the node's name.
	Selected map[string][]string `json:"selected"`
	// PreInstalled are the nodes whose label says that the host has its own driver.
	PreInstalled []string    `json:"preInstalled,omitempty"`
	Pods         []driverPod `json:"pods"`
}

// nvidiaDriver is the status of an NVIDIADriver.
type nvidiaDriver struct {
	Name string `json:"name"`
	// Selector of its nodes; without one it is that of every GPU node.
	Selector map[string]string `json:"selector"`
	// Default: it selects only nodes that no other does (spec.default, from GPU Operator v26.7 on:
	// github.com/NVIDIA/gpu-operator, pull request 2518).
	Default    bool              `json:"default,omitempty"`
	State      string            `json:"state"`
	Deleting   bool              `json:"deleting,omitempty"`
	Conditions []policyCondition `json:"conditions"`
}

// driverPod is a pod of a driver's DaemonSet. Owner is the kind and name of the DaemonSet's owner:
// NVIDIADriver/NAME or ClusterPolicy/NAME.
type driverPod struct {
	Pod       string `json:"pod"`
	Node      string `json:"node"`
	DaemonSet string `json:"daemonSet"`
	Owner     string `json:"owner"`
	Ready     bool   `json:"ready"`
	Why       string `json:"why,omitempty"`
	// Outdated: it has another template than its DaemonSet.
	Outdated bool `json:"outdated,omitempty"`
}

type policyCondition struct {
	Type               string `json:"type"`
	Status             string `json:"status"`
	Reason             string `json:"reason"`
	Message            string `json:"message"`
	ObservedGeneration int64  `json:"observedGeneration,omitempty"`
}

// operatorFigures is a Deployment of the operator.
type operatorFigures struct {
	Name string `json:"name"`
	// Version is the tag of its image; of an image without a tag, the label that its chart sets. Empty: unknown.
	Version string `json:"version,omitempty"`
	Desired int    `json:"desired"`
	Ready   int    `json:"ready"`
	// Rollout is nil in evidence that does not have it.
	Rollout *rolloutFigures `json:"rollout,omitempty"`
}

// rolloutFigures is how far a Deployment's pods are of its current template.
type rolloutFigures struct {
	Current bool `json:"current"` // status is of the current generation
	Pods    int  `json:"pods"`
	Updated int  `json:"updated"`
	// Why it does not progress.
	Why string `json:"why,omitempty"`
}

// nodeFigures are a node's conditions and resources.
type nodeFigures struct {
	Name        string `json:"name"`
	Ready       bool   `json:"ready"`
	NotReadyWhy string `json:"notReadyWhy,omitempty"`
	Schedulable bool   `json:"schedulable"`
	// Pressures are the pressure conditions, by type: reason and message.
	Pressures map[string]string `json:"pressures,omitempty"`
	// Provider is what the criteria of the site's provider read; nil without one.
	Provider *providerFigures `json:"provider,omitempty"`
	// MIGConfig is the requested MIG configuration, MIGState the state of its application; both are
	// empty on nodes without MIG manager.
	MIGConfig string `json:"migConfig,omitempty"`
	MIGState  string `json:"migState,omitempty"`
	// MIGStrategy is the device plugin's, by GPU feature discovery.
	MIGStrategy string `json:"migStrategy,omitempty"`
	// Divisions are how its GPUs are divided, as far as it shows that.
	Divisions []kube.Division `json:"divisions,omitempty"`
	// DriverUpgrade is the state of the GPU Operator's upgrade of its driver; empty without one.
	DriverUpgrade string `json:"driverUpgrade,omitempty"`
	// Reported are the conditions of monitors that do not have the status of a healthy node, by type.
	Reported map[string]conditionFigures `json:"reported,omitempty"`
	// Taints that keep pods off the node.
	Taints []corev1.Taint `json:"taints,omitempty"`
	// Resources by name.
	Resources map[string]resourceFigures `json:"resources"`
}

// providerFigures are a node's properties by which a provider's node is known.
type providerFigures struct {
	ID string `json:"id"`
	// Labels are those that the provider's criteria name.
	Labels map[string]string `json:"labels,omitempty"`
	// Conditions are those that the criteria name, by type.
	Conditions map[string]conditionFigures `json:"conditions,omitempty"`
}

type conditionFigures struct {
	Status  string `json:"status"`
	Reason  string `json:"reason,omitempty"`
	Message string `json:"message,omitempty"`
	// NotObserved: the program that writes the condition has no data.
	NotObserved bool `json:"notObserved,omitempty"`
}

type resourceFigures struct {
	Capacity    int `json:"capacity"`
	Allocatable int `json:"allocatable"`
}

// operandFigures is one DaemonSet of the operator.
type operandFigures struct {
	Name    string `json:"name"`
	Found   bool   `json:"found"`
	Current bool   `json:"current"` // status is of the current generation
	Desired int    `json:"desired"`
	Ready   int    `json:"ready"`
	Updated int    `json:"updated"`
	// Pods are its pods.
	Pods []operandPod `json:"pods"`
	// Without are the nodes of the inventory that have no pod by intention, with the label that has this meaning.
	Without map[string]string `json:"without,omitempty"`
}

type operandPod struct {
	Pod   string `json:"pod"`
	Node  string `json:"node"`
	Ready bool   `json:"ready"`
	Why   string `json:"why,omitempty"`
	// Outdated: it has another template than the DaemonSet.
	Outdated bool `json:"outdated,omitempty"`
	// Images are the images of its containers, including init containers.
	Images []operandImage `json:"images"`
}

// operandImage is a container's image and the image ID that the container runtime reports: a
// repository and a digest, or the digest of the configuration of an image that was not
// pulled.
type operandImage struct {
	Container string `json:"container"`
	Image     string `json:"image"`
	ID        string `json:"id"`
}

// gangFigures are the gang schedulers whose APIs the cluster serves, and the one in use.
type gangFigures struct {
	Detected []workload.Detected `json:"detected"`
	Used     string              `json:"used"`
	// Kind is the kind of job of the gangs.
	Kind string `json:"kind,omitempty"`
	// NoQueue is why the scheduler cannot be used: the site names no queue.
	NoQueue string `json:"noQueue,omitempty"`
	// NoKind is why the pods cannot be run by the kind of job.
	NoKind string `json:"noKind,omitempty"`
}

// usageFigures are the GPUs in use and the pods that hold them, by node.
type usageFigures struct {
	Nodes map[string]kube.Usage `json:"nodes"`
}

// classFigures is the DeviceClass by which pods claim GPUs.
type classFigures struct {
	Found bool `json:"found"`
	// Selectors are its CEL expressions.
	Selectors []string `json:"selectors,omitempty"`
	// ExtendedResource is what pods may request instead of a claim (extendedResourceName).
	ExtendedResource string `json:"extendedResource,omitempty"`
}

// sliceFigures are the GPUs that a node offers through dynamic resource allocation.
type sliceFigures struct {
	Node string `json:"node"`
	GPUs int    `json:"gpus"`
	// Slices is the number of published slices.
	Slices int `json:"slices"`
	// Problems are devices and pools that cannot be allocated.
	Problems []string `json:"problems,omitempty"`
}

// proofFigures is one gang and its placement.
type proofFigures struct {
	Scheduler  string `json:"scheduler"`
	Kind       string `json:"kind,omitempty"`
	GPUsPerPod int    `json:"gpusPerPod"`
	// Fits and FitsAfter are how many pods of the room's size fit on the free GPUs, before and
	// after.
	Fits      int                `json:"fits"`
	FitsAfter int                `json:"fitsAfter"`
	Placement workload.Placement `json:"placement"`
	// Undecided is why no decision was observed.
	Undecided string `json:"undecided,omitempty"`
	// Webhook is the admission webhook that did not answer, so that no gang was created.
	Webhook string `json:"webhook,omitempty"`
}

// dnsFigures are the addresses to which the pods of the gang that fits resolved the name of
// the API server's Service.
type dnsFigures struct {
	// Addresses are the Service's.
	Addresses []string     `json:"addresses"`
	Pods      []resolution `json:"pods"`
}

// resolution is one pod's.
type resolution struct {
	Pod       string   `json:"pod"`
	Node      string   `json:"node"`
	Addresses []string `json:"addresses"`
	// Exit is the resolver's exit code if it found no address.
	Exit int `json:"exit,omitempty"`
	// Unread is why the answer is unknown.
	Unread string `json:"unread,omitempty"`
}
