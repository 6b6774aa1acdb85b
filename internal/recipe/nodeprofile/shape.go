package nodeprofile

import (
	corev1 "k8s.io/api/core/v1"
)

// Shape is a kind of node.
type Shape struct {
	// Name of the profile, File where it is.
	Name, File string
	// Digest is the SHA-256 of the file.
	Digest string
	// Provider and Accelerator as in criteria; Accelerator is empty of system nodes.
	Provider, Accelerator string
	InstanceType, Arch    string
	// Count is how many a test makes, dealt out to Zones in turn.
	Count  int
	Region string
	Zones  []string
	// Capacity and Allocatable without extended resources.
	Capacity, Allocatable corev1.ResourceList
	Labels                map[string]string
	Taints                []corev1.Taint
	Devices               []Device
	// Discovered are labels, by the component whose pod on the node finds them.
	Discovered map[string]map[string]string
}

// Uses of devices.
const (
	UseGPU    = "gpu"
	UseFabric = "fabric"
)

// FromProvider is the From of what a node has from the start.
const FromProvider = "provider"

// Device is an extended resource.
type Device struct {
	Name corev1.ResourceName
	// Quantity on a node; Request is what one pod that takes the whole node asks for.
	Quantity, Request int64
	// Use is gpu or fabric.
	Use string
	// From is provider, or the component without which the node does not have it.
	From string
}

// Nodes are the shapes of a recipe's nodes.
type Nodes struct {
	System, Accelerated *Shape
	// Arch and Products are what the accelerator is built into, and what GPU feature
	// discovery reports for it, by accelerators.yaml; not by the profile.
	Arch, Products []string
	// AcceleratorDigest is that of the entry of accelerators.yaml.
	AcceleratorDigest string
	// WorkloadTolerations and WorkloadSelector are what the pods of users carry to run
	// on the GPU nodes, by facts about accelerator and provider; not by the profile's
	// taints and labels. That of the GPU taint is always among them.
	WorkloadTolerations []corev1.Toleration
	WorkloadSelector    map[string]string
}
