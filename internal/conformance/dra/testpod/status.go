package testpod

import (
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
)

// ImageRemedy is the remedy for a pod whose image cannot be pulled.
const ImageRemedy = "set telemetry.loadImage in the site file to an image that the nodes can pull"

// Status is a pod and its claim at one moment.
type Status struct {
	At         time.Time         `json:"at"`
	Pod        string            `json:"pod"`
	UID        string            `json:"uid"`
	Node       string            `json:"node,omitempty"`
	Phase      string            `json:"phase"`
	Reason     string            `json:"reason,omitempty"`
	Message    string            `json:"message,omitempty"`
	Scheduled  Scheduled         `json:"scheduled"`
	Containers []ContainerStatus `json:"containers"`
	Claim      *ClaimStatus      `json:"claim,omitempty"`
}

// Scheduled is the condition PodScheduled; its status is empty before the scheduler sets it.
type Scheduled struct {
	Status  string `json:"status"`
	Reason  string `json:"reason,omitempty"`
	Message string `json:"message,omitempty"`
}

// ContainerStatus is a container that was started, or why it waits.
type ContainerStatus struct {
	Name     string    `json:"name"`
	Running  bool      `json:"running"`
	Since    time.Time `json:"since,omitzero"`
	Restarts int       `json:"restarts"`
	Waiting  string    `json:"waiting,omitempty"`
}

// ClaimStatus is the pod's ResourceClaim.
type ClaimStatus struct {
	Name      string `json:"name"`
	UID       string `json:"uid"`
	Allocated bool   `json:"allocated"`
	// Devices are those of the allocation, ReservedFor the UIDs of the pods that may use it.
	Devices     []Device `json:"devices,omitempty"`
	ReservedFor []string `json:"reservedFor,omitempty"`
}

// Device of an allocation.
type Device struct {
	Driver string `json:"driver"`
	Pool   string `json:"pool"`
	Device string `json:"device"`
}

// Running reports whether every container runs and none was restarted.
func (s Status) Running() bool {
	if s.Phase != string(corev1.PodRunning) || len(s.Containers) == 0 {
		return false
	}
	return !slices.ContainsFunc(s.Containers, func(c ContainerStatus) bool { return !c.Running || c.Restarts > 0 })
}

// Terminated reports whether the pod failed or succeeded.
func (s Status) Terminated() bool {
	return s.Phase == string(corev1.PodFailed) || s.Phase == string(corev1.PodSucceeded)
}

// Unschedulable reports whether the scheduler rejected the pod.
func (s Status) Unschedulable() bool {
	return s.Scheduled.Status == string(corev1.ConditionFalse) && s.Scheduled.Reason == corev1.PodReasonUnschedulable
}

// Settled reports whether more waiting changes nothing: the pod runs, has terminated or is
// unschedulable.
func (s Status) Settled() bool { return s.Running() || s.Terminated() || s.Unschedulable() }

// ImagePullFailed reports whether the pod waits for an image that cannot be pulled.
func (s Status) ImagePullFailed() bool { return strings.Contains(s.Summary(), "ImagePull") }

// Summary describes the pod in one line.
func (s Status) Summary() string {
	parts := []string{s.Phase}
	add := func(text ...string) {
		for _, t := range text {
			if t != "" {
				parts = append(parts, t)
			}
		}
	}
	add(s.Reason, s.Message)
	if s.Scheduled.Status == string(corev1.ConditionFalse) {
		add(s.Scheduled.Message)
	}
	for _, c := range s.Containers {
		if c.Waiting != "" {
			add(fmt.Sprintf("container %s waits: %s", c.Name, c.Waiting))
		}
	}
	return strings.Join(parts, ": ")
}

func statusOf(at time.Time, pod *corev1.Pod, claim *resourcev1.ResourceClaim) Status {
	s := Status{
		At: at, Pod: pod.Namespace + "/" + pod.Name, UID: string(pod.UID), Node: pod.Spec.NodeName,
		Phase: string(pod.Status.Phase), Reason: pod.Status.Reason, Message: pod.Status.Message, Containers: []ContainerStatus{},
	}
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodScheduled {
			s.Scheduled = Scheduled{Status: string(c.Status), Reason: c.Reason, Message: c.Message}
		}
	}
	for _, c := range pod.Status.ContainerStatuses {
		one := ContainerStatus{Name: c.Name, Restarts: int(c.RestartCount)}
		if r := c.State.Running; r != nil {
			one.Running, one.Since = true, r.StartedAt.UTC()
		}
		if w := c.State.Waiting; w != nil {
			one.Waiting = strings.TrimSpace(w.Reason + " " + w.Message)
		}
		s.Containers = append(s.Containers, one)
	}
	if claim != nil {
		s.Claim = claimStatus(claim)
	}
	return s
}

func claimStatus(claim *resourcev1.ResourceClaim) *ClaimStatus {
	c := &ClaimStatus{Name: claim.Name, UID: string(claim.UID), Allocated: claim.Status.Allocation != nil}
	if c.Allocated {
		for _, r := range claim.Status.Allocation.Devices.Results {
			c.Devices = append(c.Devices, Device{Driver: r.Driver, Pool: r.Pool, Device: r.Device})
		}
	}
	for _, r := range claim.Status.ReservedFor {
		c.ReservedFor = append(c.ReservedFor, string(r.UID))
	}
	return c
}
