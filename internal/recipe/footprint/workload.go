package footprint

import (
	corev1 "k8s.io/api/core/v1"
)

// Class selects the nodes that pods may run on.
type Class string

const (
	// System is the class of nodes without accelerators.
	System Class = "system"
	// Accelerated is the class of GPU nodes.
	Accelerated Class = "accelerated"
	// Any is every node.
	Any Class = "any"
)

// Component has the workloads of one component of a recipe.
type Component struct {
	// Name as in the recipe.
	Name      string        `json:"name"`
	Workloads []Workload    `json:"workloads"`
	Publishes []Publication `json:"publishes,omitempty"`
	// Source of the footprint: rendered or documented.
	Source string `json:"-"`
	// File of the footprint, for messages.
	File string `json:"-"`
}

// Workload describes the pods of a controller as the scheduler sees them.
type Workload struct {
	// Kind is Deployment, DaemonSet, StatefulSet or Job.
	Kind string `json:"kind"`
	// Object is the kind of the object in a manifest that is scheduled like Kind, such as
	// CronJob; empty: Kind.
	Object    string `json:"-"`
	Name      string `json:"name"`
	Namespace string `json:"namespace"`
	Class     Class  `json:"class"`
	// CreatedBy is the kind of the object from which an operator creates the workload; empty if
	// the chart contains it.
	CreatedBy string `json:"createdBy,omitempty"`
	// Discovers is set if nodes with a pod of the workload get the labels under discovered in
	// their node profile for this component.
	Discovers bool `json:"discovers,omitempty"`
	// Brings are the extended resources that its pods provide on their nodes.
	Brings []string `json:"brings,omitempty"`
	// Replicas is the number of pods; 0 for a DaemonSet.
	Replicas int32 `json:"replicas,omitempty"`
	Pod      Pod   `json:"pod"`
}

// Pod has the fields of a pod template that the scheduler reads.
type Pod struct {
	Labels                    map[string]string                 `json:"labels,omitempty"`
	NodeSelector              map[string]string                 `json:"nodeSelector,omitempty"`
	Affinity                  *corev1.Affinity                  `json:"affinity,omitempty"`
	Tolerations               []corev1.Toleration               `json:"tolerations,omitempty"`
	TopologySpreadConstraints []corev1.TopologySpreadConstraint `json:"topologySpreadConstraints,omitempty"`
	// Requests of the whole pod; a limit without a request is the request.
	Requests          corev1.ResourceList `json:"requests,omitempty"`
	PriorityClassName string              `json:"priorityClassName,omitempty"`
	SchedulerName     string              `json:"schedulerName,omitempty"`
	HostNetwork       bool                `json:"hostNetwork,omitempty"`
	HostPorts         []int32             `json:"hostPorts,omitempty"`
}

// Publication has labels that a component sets on nodes with other labels.
type Publication struct {
	OnNodesWith map[string]string `json:"onNodesWith"`
	Labels      map[string]string `json:"labels"`
}
