package workload

import (
	"errors"
	"fmt"
)

// Spec is one gang of equal pods.
type Spec struct {
	// Name is the Job's and the Service's, unique within the run.
	Name string
	// Gate is the gate that runs it.
	Gate string
	// Pods is how many there are; MinCount how many must be placed together
	// (0: all).
	Pods     int
	MinCount int
	// GPUs a pod.
	GPUs int
	// DeviceClass claims the GPUs of a class, through dynamic resource allocation; empty:
	// the device plugin's resource is asked for.
	DeviceClass string
	// NetworkResource is the extended resource of an RDMA port and NetworkCount
	// how many a pod takes; empty for none.
	NetworkResource string
	NetworkCount    int
	Image           string
	// Container is the container's name.
	Container string
	// Script is run by bash -ec.
	Script string
	Env    map[string]string
	// Ports that the container listens on.
	Ports []int32
	// Nodes that pods may be placed on, by their hostname label; empty for any.
	Nodes []string
	// OnePerNode keeps pods of the gang on different nodes.
	OnePerNode bool
	// Restarts is how many restarts of a container are borne before the Job
	// fails; 0 means that a container which ends is not started again.
	Restarts int32
}

func (s Spec) minCount() int {
	if s.MinCount > 0 {
		return s.MinCount
	}
	return s.Pods
}

// claims says that its GPUs come through dynamic resource allocation.
func (s Spec) claims() bool { return s.DeviceClass != "" && s.GPUs > 0 }

// LocksMemory says that its pods need the capability IPC_LOCK: RDMA registers memory, which
// must be locked.
func (s Spec) LocksMemory() bool { return s.NetworkResource != "" && s.NetworkCount > 0 }

func (s Spec) validate() error {
	var problems []error
	if s.Name == "" || s.Gate == "" || s.Image == "" || s.Container == "" || s.Script == "" {
		problems = append(problems, fmt.Errorf("workload %q: name, gate, image, container and script must be given", s.Name))
	}
	if s.Pods < 1 || s.GPUs < 0 || s.NetworkCount < 0 || s.MinCount < 0 || s.MinCount > s.Pods || s.Restarts < 0 {
		problems = append(problems, fmt.Errorf("workload %q: impossible counts: %d pods, at least %d together, %d GPUs and %d network ports each, %d restarts",
			s.Name, s.Pods, s.MinCount, s.GPUs, s.NetworkCount, s.Restarts))
	}
	return errors.Join(problems...)
}
