package snapshot

import corev1 "k8s.io/api/core/v1"

// State is one consistent picture of a cell: every list was read at
// ResourceVersion.
type State struct {
	Recipe string `json:"recipe"`
	// Quiet says that the controllers and the scheduler had nothing left to do when
	// this was read; where they did not come to rest, Restless says what kept on.
	Converged       bool       `json:"converged"`
	NotConverged    string     `json:"notConverged,omitempty"`
	ResourceVersion string     `json:"resourceVersion"`
	Nodes           []Node     `json:"nodes"`
	Workloads       []Workload `json:"workloads"`
	Pods            []Pod      `json:"pods"`
	// Gangs are the pod groups: that of the probe, those of controls.
	Gangs []Gang `json:"gangs,omitempty"`
}

// Node as it came to be.
type Node struct {
	// Name within the cell.
	Name        string              `json:"name"`
	Ready       bool                `json:"ready"`
	Labels      map[string]string   `json:"labels"`
	Taints      []corev1.Taint      `json:"taints,omitempty"`
	Allocatable corev1.ResourceList `json:"allocatable"`
}

// Owners of workloads that are no component.
const (
	// OwnerProbe is the GPU workload.
	OwnerProbe = "probe"
	// OwnerControl is a control; the workload's name is the control's.
	OwnerControl = "control"
	// OwnerBarrier is how the controllers' rest is recognised.
	OwnerBarrier = "barrier"
)

// Workload is a controller's own account.
type Workload struct {
	// Component, or one of the owners above.
	Component string `json:"component"`
	Kind      string `json:"kind"`
	Name      string `json:"name"`
	// Generation and ObservedGeneration: the controller has seen the newest when equal.
	Generation         int64 `json:"generation"`
	ObservedGeneration int64 `json:"observedGeneration"`
	// Desired pods, and those that it counts as made; of a DaemonSet
	// desiredNumberScheduled and currentNumberScheduled.
	Desired int32 `json:"desired"`
	Made    int32 `json:"made"`
	// Trouble is the controller's own word for what keeps it from making pods
	// (a ReplicaFailure condition, a quota), if there is one.
	Trouble string `json:"trouble,omitempty"`
}

// Pod is one pod.
type Pod struct {
	Component string `json:"component"`
	// Workload is its controller's name, Kind the controller's kind.
	Workload string `json:"workload"`
	Kind     string `json:"kind"`
	Name     string `json:"name"`
	// Node within the cell; empty: not bound.
	Node string `json:"node,omitempty"`
	// Phase is the API's. No kubelet changes it: that of a pod that is bound stays Pending.
	Phase string `json:"phase"`
	// Reason and Message are those of PodScheduled where it is not true: the
	// scheduler's own.
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
