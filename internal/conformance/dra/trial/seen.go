package trial

import (
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
)

// Seen is a pod and its claim at one moment.
type Seen struct {
	At         time.Time   `json:"at"`
	Pod        string      `json:"pod"`
	UID        string      `json:"uid"`
	Node       string      `json:"node,omitempty"`
	Phase      string      `json:"phase"`
	Reason     string      `json:"reason,omitempty"`
	Message    string      `json:"message,omitempty"`
	Scheduled  Scheduled   `json:"scheduled"`
	Containers []Started   `json:"containers"`
	Claim      *ClaimState `json:"claim,omitempty"`
}

// Scheduled is the scheduler's word: True, False or, before it has said anything,
// empty.
type Scheduled struct {
	Status  string `json:"status"`
	Reason  string `json:"reason,omitempty"`
	Message string `json:"message,omitempty"`
}

// Started is a container that was started, or why it waits.
type Started struct {
	Name     string    `json:"name"`
	Running  bool      `json:"running"`
	Since    time.Time `json:"since,omitzero"`
	Restarts int       `json:"restarts"`
	Waiting  string    `json:"waiting,omitempty"`
}

// ClaimState is the pod's ResourceClaim.
type ClaimState struct {
	Name      string `json:"name"`
	UID       string `json:"uid"`
	Allocated bool   `json:"allocated"`
	// Devices are those of the allocation, ReservedFor the UIDs of the pods that
	// may use it.
	Devices     []Device `json:"devices,omitempty"`
	ReservedFor []string `json:"reservedFor,omitempty"`
}

// Device is one of an allocation.
type Device struct {
	Driver string `json:"driver"`
	Pool   string `json:"pool"`
	Device string `json:"device"`
}

// Runs says that every container runs and none was started again.
func (s Seen) Runs() bool {
	if s.Phase != string(corev1.PodRunning) || len(s.Containers) == 0 {
		return false
	}
	return !slices.ContainsFunc(s.Containers, func(c Started) bool { return !c.Running || c.Restarts > 0 })
}

// Over says that the pod will never run any more.
func (s Seen) Over() bool {
	return s.Phase == string(corev1.PodFailed) || s.Phase == string(corev1.PodSucceeded)
}

// Refused says that the scheduler has said no.
func (s Seen) Refused() bool {
	return s.Scheduled.Status == string(corev1.ConditionFalse) && s.Scheduled.Reason == corev1.PodReasonUnschedulable
}

// State is one line about the pod for a person.
func (s Seen) State() string {
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

func seenOf(at time.Time, pod *corev1.Pod, claim *resourcev1.ResourceClaim) Seen {
	s := Seen{
		At: at, Pod: pod.Namespace + "/" + pod.Name, UID: string(pod.UID), Node: pod.Spec.NodeName,
		Phase: string(pod.Status.Phase), Reason: pod.Status.Reason, Message: pod.Status.Message, Containers: []Started{},
	}
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodScheduled {
			s.Scheduled = Scheduled{Status: string(c.Status), Reason: c.Reason, Message: c.Message}
		}
	}
	for _, c := range pod.Status.ContainerStatuses {
		one := Started{Name: c.Name, Restarts: int(c.RestartCount)}
		if r := c.State.Running; r != nil {
			one.Running, one.Since = true, r.StartedAt.UTC()
		}
		if w := c.State.Waiting; w != nil {
			one.Waiting = strings.TrimSpace(w.Reason + " " + w.Message)
		}
		s.Containers = append(s.Containers, one)
	}
	if claim != nil {
		s.Claim = claimState(claim)
	}
	return s
}

func claimState(claim *resourcev1.ResourceClaim) *ClaimState {
	c := &ClaimState{Name: claim.Name, UID: string(claim.UID), Allocated: claim.Status.Allocation != nil}
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
