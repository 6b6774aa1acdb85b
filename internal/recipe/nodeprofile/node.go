package nodeprofile

import (
	corev1 "k8s.io/api/core/v1"
)

// Node is a kind of node.
type Node struct {
	// Name of the profile and its File.
	Name, File string
	// Digest is the SHA-256 of the file.
	Digest string
	// Provider and Accelerator as in criteria; a system node has no accelerator.
	Provider, Accelerator string
	InstanceType, Arch    string
	// Count is the number of nodes in a test, distributed over Zones in turn.
	Count  int
	Region string
	Zones  []string
	// Capacity and Allocatable exclude extended resources.
	Capacity, Allocatable corev1.ResourceList
	Labels                map[string]string
	Taints                []corev1.Taint
	Devices               []Device
	// Discovered has labels by the component whose pod on the node sets them.
	Discovered map[string]map[string]string
}

// Values of Device.Use.
const (
	UseGPU    = "gpu"
	UseFabric = "fabric"
)

// FromProvider is the value of Device.From for devices that need no component.
const FromProvider = "provider"

// Device is an extended resource.
type Device struct {
	Name corev1.ResourceName
	// Quantity on a node; Request is that of a pod that uses the whole node.
	Quantity, Request int64
	// Use is gpu or fabric.
	Use string
	// From is FromProvider, or the component that provides the device.
	From string
}

// Nodes are the nodes of a recipe.
type Nodes struct {
	System, Accelerated *Node
	// Arch and Products of the accelerator, from accelerators.yaml and not from the profile:
	// CPU architectures, and names reported by GPU feature discovery.
	Arch, Products []string
	// AcceleratorDigest is the digest of the entry in accelerators.yaml.
	AcceleratorDigest string
	// WorkloadTolerations and WorkloadSelector are those of user pods on the GPU nodes. They
	// come from accelerators.yaml and not from the profile's taints and labels. The toleration
	// of the GPU taint is always included.
	WorkloadTolerations []corev1.Toleration
	WorkloadSelector    map[string]string
}
