package model

import "github.com/firstlight/firstlight/internal/yamlstrict"

// Footprint describes the pods that a component schedules.
type Footprint struct {
	Header   `yaml:",inline"`
	Metadata Metadata      `yaml:"metadata" json:"metadata" need:"true"`
	Spec     FootprintSpec `yaml:"spec" json:"spec" need:"true"`
}

// FootprintSpec has the origin of the footprint and its pods.
type FootprintSpec struct {
	Chart     *FootprintChart     `yaml:"chart,omitempty" json:"chart,omitempty"`
	Kustomize *FootprintKustomize `yaml:"kustomize,omitempty" json:"kustomize,omitempty"`
	// Source is rendered if a lock has the rendered chart, otherwise documented.
	Source       string   `yaml:"source" json:"source" need:"true" enum:"rendered,documented"`
	DocumentedAt []string `yaml:"documentedAt,omitempty" json:"documentedAt,omitempty"`
	Unverified   []string `yaml:"unverified,omitempty" json:"unverified,omitempty"`
	// Namespace if neither overlay nor registry set one.
	Namespace string `yaml:"namespace,omitempty" json:"namespace,omitempty"`
	// Defaults has the chart's default values that the rules read.
	Defaults map[string]any `yaml:"defaults,omitempty" json:"defaults,omitempty"`
	// Workloads by rules. In a rendered footprint they are those created by an operator
	// (createdBy), and the classes of the chart's own workloads.
	Workloads []FootprintWorkload `yaml:"workloads" json:"workloads"`
	// WithoutPods are kinds of objects in the component's manifests or chart that contain a pod
	// template and schedule no pods.
	WithoutPods []string          `yaml:"withoutPods,omitempty" json:"withoutPods,omitempty"`
	Publishes   []FootprintLabels `yaml:"publishes,omitempty" json:"publishes,omitempty"`
	// APIs are kinds that the component defines, as group/version/Kind: other charts test for
	// them when they are rendered.
	APIs []string `yaml:"apis,omitempty" json:"apis,omitempty"`
	// Renders has the rendered workloads for each set of values in recipes. Written by recipe
	// footprint update.
	Renders []FootprintRender `yaml:"renders,omitempty" json:"renders,omitempty"`
}

// FootprintChart is a Helm chart.
type FootprintChart struct {
	Repository string `yaml:"repository" json:"repository" need:"true"`
	Name       string `yaml:"name" json:"name" need:"true"`
	Version    string `yaml:"version" json:"version" need:"true"`
	// Module and Path: the chart is in this directory of a Go module. ModuleVersion is set if
	// it differs from the chart's version.
	Module        string `yaml:"module,omitempty" json:"module,omitempty"`
	ModuleVersion string `yaml:"moduleVersion,omitempty" json:"moduleVersion,omitempty"`
	Path          string `yaml:"path,omitempty" json:"path,omitempty"`
	// Dependencies are locations of dependencies that are not packaged with the chart.
	Dependencies []FootprintDependency `yaml:"dependencies,omitempty" json:"dependencies,omitempty"`
	// Digest is the SHA-256 of the rendered chart.
	Digest string `yaml:"digest,omitempty" json:"digest,omitempty"`
}

// FootprintDependency is a dependency of a chart in a Go module.
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

// FootprintWorkload describes one workload by rules.
type FootprintWorkload struct {
	Kind string `yaml:"kind" json:"kind" need:"true" enum:"Deployment,DaemonSet,StatefulSet,Job"`
	Name string `yaml:"name" json:"name" need:"true"`
	// Class selects the nodes that its pods may run on.
	Class string `yaml:"class" json:"class" need:"true" enum:"system,accelerated,any"`
	// CreatedBy is the kind of the object from which an operator creates the workload.
	CreatedBy string `yaml:"createdBy,omitempty" json:"createdBy,omitempty"`
	// Discovers: nodes with a pod of the workload get the discovered labels of their profile.
	Discovers bool `yaml:"discovers,omitempty" json:"discovers,omitempty"`
	// Brings are the extended resources that its pods provide on their nodes.
	Brings []string `yaml:"brings,omitempty" json:"brings,omitempty"`
	// When are value paths that must all be true; with a leading !, false.
	When         []string           `yaml:"when,omitempty" json:"when,omitempty"`
	WhenManifest *FootprintManifest `yaml:"whenManifest,omitempty" json:"whenManifest,omitempty"`
	Replicas     int                `yaml:"replicas,omitempty" json:"replicas,omitempty"`
	Pod          FootprintPod       `yaml:"pod,omitempty" json:"pod,omitzero"`
	// ValuesFrom sets fields: field: value path, a list of paths, or {firstOf: [paths]}.
	ValuesFrom map[string]any `yaml:"valuesFrom,omitempty" json:"valuesFrom,omitempty"`
}

// FootprintManifest selects an object in the recipe's manifests.
type FootprintManifest struct {
	Kind string `yaml:"kind" json:"kind" need:"true"`
	Path string `yaml:"path" json:"path" need:"true"`
}

// FootprintPod has the fields of a pod template that the scheduler reads; affinity, tolerations
// and topologySpreadConstraints are as in the Kubernetes API.
type FootprintPod struct {
	Labels                    map[string]string `yaml:"labels,omitempty" json:"labels,omitempty"`
	NodeSelector              map[string]string `yaml:"nodeSelector,omitempty" json:"nodeSelector,omitempty"`
	Affinity                  map[string]any    `yaml:"affinity,omitempty" json:"affinity,omitempty"`
	Tolerations               []any             `yaml:"tolerations,omitempty" json:"tolerations,omitempty"`
	TopologySpreadConstraints []any             `yaml:"topologySpreadConstraints,omitempty" json:"topologySpreadConstraints,omitempty"`
	// Requests of the whole pod, as Kubernetes computes them.
	Requests          map[string]yamlstrict.Text `yaml:"requests,omitempty" json:"requests,omitempty"`
	PriorityClassName string                     `yaml:"priorityClassName,omitempty" json:"priorityClassName,omitempty"`
	SchedulerName     string                     `yaml:"schedulerName,omitempty" json:"schedulerName,omitempty"`
	HostNetwork       bool                       `yaml:"hostNetwork,omitempty" json:"hostNetwork,omitempty"`
	HostPorts         []int                      `yaml:"hostPorts,omitempty" json:"hostPorts,omitempty"`
}

// FootprintLabels are labels that the component sets on nodes with other labels.
type FootprintLabels struct {
	OnNodesWith map[string]string `yaml:"onNodesWith" json:"onNodesWith" need:"true"`
	Labels      map[string]string `yaml:"labels" json:"labels" need:"true"`
}

// FootprintRender is the result of rendering with one set of values.
type FootprintRender struct {
	// Values is the SHA-256 of the component's values in canonical JSON.
	Values string `yaml:"values" json:"values" need:"true"`
	// Recipes with these values when the file was written, without those based on another of
	// them; empty: all with the component. For display only.
	Recipes   []string           `yaml:"recipes,omitempty" json:"recipes,omitempty"`
	Workloads []RenderedWorkload `yaml:"workloads" json:"workloads"`
}

// RenderedWorkload is one workload of a rendered chart.
type RenderedWorkload struct {
	Kind string `yaml:"kind" json:"kind" need:"true" enum:"Deployment,DaemonSet,StatefulSet,Job"`
	Name string `yaml:"name" json:"name" need:"true"`
	// Replicas is set for all kinds but DaemonSet; workloads without replicas are not in the
	// lock.
	Replicas int          `yaml:"replicas,omitempty" json:"replicas,omitempty"`
	Pod      FootprintPod `yaml:"pod,omitempty" json:"pod,omitzero"`
}
