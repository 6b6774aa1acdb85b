package workload

import (
	"cmp"
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/api/resource"
)

// Spec is one gang of identical pods.
type Spec struct {
	// Name is the name of the Job and the Service, unique within the run.
	Name string
	// Gate is the gate that runs it.
	Gate string
	// Pods is their number, MinCount the number that must be placed together (0: all).
	Pods     int
	MinCount int
	// GPUs per pod.
	GPUs int
	// GPUResource is the extended resource of the GPUs; empty: kube.GPUResource.
	GPUResource string
	// DeviceClass requests the GPUs through dynamic resource allocation; empty: through the
	// device plugin's resource.
	DeviceClass string
	// NetworkResource is the extended resource of RDMA ports, NetworkCount the number per
	// pod; empty for none.
	NetworkResource string
	NetworkCount    int
	Image           string
	// Container is the container's name.
	Container string
	// Script is run by bash -ec. Command is run without a shell instead, for images that have none.
	Script  string
	Command []string
	Env     map[string]string
	// CPU that is requested, as a Kubernetes quantity; empty for none.
	CPU string
	// Ports that the container listens on.
	Ports []int32
	// Nodes that pods may be placed on, by name; empty for any.
	Nodes []string
	// hosts are the values of the hostname label of Nodes; nil: their names.
	hosts []string
	// OnePerNode keeps pods of the gang on different nodes.
	OnePerNode bool
	// Cordoned: its pods also run on cordoned nodes. Nodes must be set.
	Cordoned bool
	// HostDirectory is a directory of the nodes, mounted at HostMount; empty for none.
	HostDirectory string
	// Restarts is the number of container restarts before the Job fails; 0 disables restarts.
	Restarts int32
	// Patches are strategic merge patches of the pod template, in order.
	Patches []map[string]any
}

func (s Spec) minCount() int {
	if s.MinCount > 0 {
		return s.MinCount
	}
	return s.Pods
}

// DefaultClass sets the DeviceClass of a gang that does not name its own.
func (s *Spec) DefaultClass(class string) { s.DeviceClass = cmp.Or(s.DeviceClass, class) }

// request is the request of each pod for its GPUs; the template of claims has the gang's name.
func (s Spec) request() GPURequest {
	return GPURequest{GPUs: s.GPUs, DeviceClass: s.DeviceClass, Resource: s.GPUResource, Template: s.Name}
}

// locksMemory reports whether its pods need the capability IPC_LOCK: RDMA requires locked
// memory.
func (s Spec) locksMemory() bool { return s.NetworkResource != "" && s.NetworkCount > 0 }

// HostMount is where a pod has its HostDirectory.
const HostMount = "/mnt/firstlight"

func (s Spec) validate() error {
	var problems []error
	if s.Name == "" || s.Gate == "" || s.Image == "" || s.Container == "" || (s.Script == "") == (len(s.Command) == 0) {
		problems = append(problems, fmt.Errorf("invalid workload %q: name, gate, image, container and either script or command must be set", s.Name))
	}
	if _, err := resource.ParseQuantity(cmp.Or(s.CPU, "0")); err != nil {
		problems = append(problems, fmt.Errorf("invalid workload %q: CPU %q: %w", s.Name, s.CPU, err))
	}
	if s.Pods < 1 || s.GPUs < 0 || s.NetworkCount < 0 || s.MinCount < 0 || s.MinCount > s.Pods || s.Restarts < 0 {
		problems = append(problems, fmt.Errorf("invalid workload %q: %d pods, MinCount %d, %d GPUs and %d network ports per pod, %d restarts",
			s.Name, s.Pods, s.MinCount, s.GPUs, s.NetworkCount, s.Restarts))
	}
	if s.Cordoned && len(s.Nodes) == 0 {
		problems = append(problems, fmt.Errorf("invalid workload %q: pods that run on cordoned nodes need the names of their nodes", s.Name))
	}
	return errors.Join(problems...)
}
