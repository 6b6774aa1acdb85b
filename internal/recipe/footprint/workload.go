package footprint

import (
	corev1 "k8s.io/api/core/v1"
)

// Class says on which nodes pods may be.
type Class string

// The classes.
const (
	System      Class = "system"
	Accelerated Class = "accelerated"
	Any         Class = "any"
)

// Component is what one component of a recipe schedules.
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

// Workload is a controller's pods, as the scheduler sees them.
type Workload struct {
	// Kind is Deployment, DaemonSet, StatefulSet or Job.
	Kind      string `json:"kind"`
	Name      string `json:"name"`
	Namespace string `json:"namespace"`
	Class     Class  `json:"class"`
	// CreatedBy is the kind of object that an operator makes it of; empty: the
	// chart has it.
	CreatedBy string `json:"createdBy,omitempty"`
	// Discovers: nodes that its pods run on get what their shape has under
	// discovered for this component.
	Discovers bool `json:"discovers,omitempty"`
	// Brings are the extended resources that its pods bring to the nodes they run on.
	Brings []string `json:"brings,omitempty"`
	// Replicas is how many pods; of a DaemonSet it is 0.
	Replicas int32 `json:"replicas,omitempty"`
	Pod      Pod   `json:"pod"`
}

// Pod is what of a pod template the scheduler sees.
type Pod struct {
	Labels                    map[string]string                 `json:"labels,omitempty"`
	NodeSelector              map[string]string                 `json:"nodeSelector,omitempty"`
	Affinity                  *corev1.Affinity                  `json:"affinity,omitempty"`
	Tolerations               []corev1.Toleration               `json:"tolerations,omitempty"`
	TopologySpreadConstraints []corev1.TopologySpreadConstraint `json:"topologySpreadConstraints,omitempty"`
	// Requests of the whole pod; what has only a limit requests that.
	Requests          corev1.ResourceList `json:"requests,omitempty"`
	PriorityClassName string              `json:"priorityClassName,omitempty"`
	SchedulerName     string              `json:"schedulerName,omitempty"`
	HostNetwork       bool                `json:"hostNetwork,omitempty"`
	HostPorts         []int32             `json:"hostPorts,omitempty"`
}

// Publication are labels that a component puts on the nodes that have others.
type Publication struct {
	OnNodesWith map[string]string `json:"onNodesWith"`
	Labels      map[string]string `json:"labels"`
}
