package model

import "github.com/firstlight/firstlight/internal/yamlstrict"

// Footprint is the pods that a component schedules.
type Footprint struct {
	Header   `yaml:",inline"`
	Metadata Metadata      `yaml:"metadata" json:"metadata" need:"true"`
	Spec     FootprintSpec `yaml:"spec" json:"spec" need:"true"`
}

// FootprintSpec says what it was made of, and the pods.
type FootprintSpec struct {
	Chart     *FootprintChart     `yaml:"chart,omitempty" json:"chart,omitempty"`
	Kustomize *FootprintKustomize `yaml:"kustomize,omitempty" json:"kustomize,omitempty"`
	// Source is rendered for a lock of what the chart was rendered to, or documented.
	Source       string   `yaml:"source" json:"source" need:"true" enum:"rendered,documented"`
	DocumentedAt []string `yaml:"documentedAt,omitempty" json:"documentedAt,omitempty"`
	Unverified   []string `yaml:"unverified,omitempty" json:"unverified,omitempty"`
	// Namespace where overlay and registry state none.
	Namespace string `yaml:"namespace,omitempty" json:"namespace,omitempty"`
	// Defaults is the part of the chart's default values that the rules read.
	Defaults map[string]any `yaml:"defaults,omitempty" json:"defaults,omitempty"`
	// Workloads by rules. In a rendered footprint they are those that an operator
	// makes (createdBy), and name the class of those that the chart has (place).
	Workloads []FootprintWorkload `yaml:"workloads" json:"workloads"`
	Publishes []FootprintLabels   `yaml:"publishes,omitempty" json:"publishes,omitempty"`
	// APIs are kinds that are served once the component is there, as group/version/Kind:
	// other charts ask for them when they are rendered.
	APIs []string `yaml:"apis,omitempty" json:"apis,omitempty"`
	// Renders are what the chart was rendered to, one for each set of values that
	// recipes have. Written by recipe footprint update.
	Renders []FootprintRender `yaml:"renders,omitempty" json:"renders,omitempty"`
}

// FootprintChart is a Helm chart.
type FootprintChart struct {
	Repository string `yaml:"repository" json:"repository" need:"true"`
	Name       string `yaml:"name" json:"name" need:"true"`
	Version    string `yaml:"version" json:"version" need:"true"`
	// Module and Path: the chart ships inside this Go module, at this directory.
	// ModuleVersion where it is not the chart's.
	Module        string `yaml:"module,omitempty" json:"module,omitempty"`
	ModuleVersion string `yaml:"moduleVersion,omitempty" json:"moduleVersion,omitempty"`
	Path          string `yaml:"path,omitempty" json:"path,omitempty"`
	// Dependencies are where charts that it depends on ship, where they are not in it.
	Dependencies []FootprintDependency `yaml:"dependencies,omitempty" json:"dependencies,omitempty"`
	// Digest is the SHA-256 of the chart that was rendered.
	Digest string `yaml:"digest,omitempty" json:"digest,omitempty"`
}

// FootprintDependency is a chart that another one depends on, and that ships inside
// a Go module.
type FootprintDependency struct {
	Name          string `yaml:"name" json:"name" need:"true"`
	Module        string `yaml:"module" json:"module" need:"true"`
	ModuleVersion string `yaml:"moduleVersion" json:"moduleVersion" need:"true"`
	Path          string `yaml:"path" json:"path" need:"true"`
}

// FootprintKustomize is a kustomization.
type FootprintKustomize struct {
	Source string `yaml:"source" json:"source" need:"true"`
	Path   string `yaml:"path,omitempty" json:"path,omitempty"`
	Tag    string `yaml:"tag" json:"tag" need:"true"`
}

// FootprintWorkload is one workload, by rules.
type FootprintWorkload struct {
	Kind string `yaml:"kind" json:"kind" need:"true" enum:"Deployment,DaemonSet,StatefulSet,Job"`
	Name string `yaml:"name" json:"name" need:"true"`
	// Class is where its pods may be.
	Class string `yaml:"class" json:"class" need:"true" enum:"system,accelerated,any"`
	// CreatedBy is the kind of object that an operator makes it of.
	CreatedBy string `yaml:"createdBy,omitempty" json:"createdBy,omitempty"`
	// Discovers: nodes that its pods run on get the labels of their profile.
	Discovers bool `yaml:"discovers,omitempty" json:"discovers,omitempty"`
	// Brings are the extended resources that its pods bring to the nodes they run on.
	Brings []string `yaml:"brings,omitempty" json:"brings,omitempty"`
	// When are value paths that must all be true; with ! in front: false.
	When         []string           `yaml:"when,omitempty" json:"when,omitempty"`
	WhenManifest *FootprintManifest `yaml:"whenManifest,omitempty" json:"whenManifest,omitempty"`
	Replicas     int                `yaml:"replicas,omitempty" json:"replicas,omitempty"`
	Pod          FootprintPod       `yaml:"pod,omitempty" json:"pod,omitzero"`
	// ValuesFrom: field: value path, a list of them, or {firstOf: [paths]}.
	ValuesFrom map[string]any `yaml:"valuesFrom,omitempty" json:"valuesFrom,omitempty"`
}

// FootprintManifest is an object among the recipe's manifests.
type FootprintManifest struct {
	Kind string `yaml:"kind" json:"kind" need:"true"`
	Path string `yaml:"path" json:"path" need:"true"`
}

// FootprintPod is what of a pod template the scheduler sees; affinity,
// tolerations and topologySpreadConstraints are as in the Kubernetes API.
type FootprintPod struct {
	Labels                    map[string]string `yaml:"labels,omitempty" json:"labels,omitempty"`
	NodeSelector              map[string]string `yaml:"nodeSelector,omitempty" json:"nodeSelector,omitempty"`
	Affinity                  map[string]any    `yaml:"affinity,omitempty" json:"affinity,omitempty"`
	Tolerations               []any             `yaml:"tolerations,omitempty" json:"tolerations,omitempty"`
	TopologySpreadConstraints []any             `yaml:"topologySpreadConstraints,omitempty" json:"topologySpreadConstraints,omitempty"`
	// Requests of all containers together, as Kubernetes adds them up.
	Requests          map[string]yamlstrict.Text `yaml:"requests,omitempty" json:"requests,omitempty"`
	PriorityClassName string                     `yaml:"priorityClassName,omitempty" json:"priorityClassName,omitempty"`
	SchedulerName     string                     `yaml:"schedulerName,omitempty" json:"schedulerName,omitempty"`
	HostNetwork       bool                       `yaml:"hostNetwork,omitempty" json:"hostNetwork,omitempty"`
	HostPorts         []int                      `yaml:"hostPorts,omitempty" json:"hostPorts,omitempty"`
}

// FootprintLabels are labels that the component puts on nodes that have others.
type FootprintLabels struct {
	OnNodesWith map[string]string `yaml:"onNodesWith" json:"onNodesWith" need:"true"`
	Labels      map[string]string `yaml:"labels" json:"labels" need:"true"`
}

// FootprintRender is what one set of values was rendered to.
type FootprintRender struct {
	// Values is the SHA-256 of the component's values in canonical JSON.
	Values string `yaml:"values" json:"values" need:"true"`
	// Recipes that had these values when it was written, without those that are based
	// on one of them; empty: all that have the component. For people.
	Recipes   []string           `yaml:"recipes,omitempty" json:"recipes,omitempty"`
	Workloads []RenderedWorkload `yaml:"workloads" json:"workloads"`
}

// RenderedWorkload is one workload of a rendered chart.
type RenderedWorkload struct {
	Kind string `yaml:"kind" json:"kind" need:"true" enum:"Deployment,DaemonSet,StatefulSet,Job"`
	Name string `yaml:"name" json:"name" need:"true"`
	// Replicas is always there but of a DaemonSet; what has none is not in the lock.
	Replicas int          `yaml:"replicas,omitempty" json:"replicas,omitempty"`
	Pod      FootprintPod `yaml:"pod,omitempty" json:"pod,omitzero"`
}
