// Package snapshot holds the observed state of a scenario on a control plane. It is stored
// as an observation's figures before it is judged.
package snapshot

import corev1 "k8s.io/api/core/v1"

// State is a consistent snapshot of a scenario: every list was read at ResourceVersion.
type State struct {
	Recipe string `json:"recipe"`
	// Converged reports that the controllers and the scheduler had nothing left to do;
	// otherwise NotConverged is the pending change.
	Converged       bool       `json:"converged"`
	NotConverged    string     `json:"notConverged,omitempty"`
	ResourceVersion string     `json:"resourceVersion"`
	Nodes           []Node     `json:"nodes"`
	Workloads       []Workload `json:"workloads"`
	Pods            []Pod      `json:"pods"`
	// Gangs are the pod groups of the probe and the controls.
	Gangs []Gang `json:"gangs,omitempty"`
}

// Node is an observed node.
type Node struct {
	// Name within the scenario.
	Name        string              `json:"name"`
	Ready       bool                `json:"ready"`
	Labels      map[string]string   `json:"labels"`
	Taints      []corev1.Taint      `json:"taints,omitempty"`
	Allocatable corev1.ResourceList `json:"allocatable"`
}

// Owners of workloads that are not part of a component.
const (
	// OwnerProbe is the GPU workload.
	OwnerProbe = "probe"
	// OwnerControl is a control; the workload's name is the control's.
	OwnerControl = "control"
	// OwnerBarrier is a barrier that detects convergence.
	OwnerBarrier = "barrier"
)

// Workload is the status of a workload.
type Workload struct {
	// Component, or one of the owners above.
	Component string `json:"component"`
	Kind      string `json:"kind"`
	Name      string `json:"name"`
	// Generation equals ObservedGeneration once the controller has observed the newest spec.
	Generation         int64 `json:"generation"`
	ObservedGeneration int64 `json:"observedGeneration"`
	// Desired and created pods; of a DaemonSet desiredNumberScheduled and
	// currentNumberScheduled.
	Desired int32 `json:"desired"`
	Made    int32 `json:"made"`
	// Trouble is the controller's reason why it cannot create pods (a ReplicaFailure
	// condition, a quota).
	Trouble string `json:"trouble,omitempty"`
}

// Pod is an observed pod.
type Pod struct {
	Component string `json:"component"`
	// Workload is its controller's name, Kind the controller's kind.
	Workload string `json:"workload"`
	Kind     string `json:"kind"`
	Name     string `json:"name"`
	// Node within the scenario; empty if not bound.
	Node string `json:"node,omitempty"`
	// Phase from the API. Without kubelets it stays Pending after binding.
	Phase string `json:"phase"`
	// Reason and Message of a PodScheduled condition that is not True.
	Reason  string `json:"reason,omitempty"`
	Message string `json:"message,omitempty"`
}

// Gang is a pod group.
type Gang struct {
	Owner string `json:"owner"`
	Name  string `json:"name"`
	// Scheduled is the status of PodGroupScheduled: True, False or Unknown.
	Scheduled string `json:"scheduled"`
	Reason    string `json:"reason,omitempty"`
	Message   string `json:"message,omitempty"`
}
