package model

// Registry declares every component once, with its defaults.
type Registry struct {
	Header     `yaml:",inline"`
	Components []Component `yaml:"components" json:"components" need:"true"`
}

// Component is an entry of the registry. It has exactly one of helm, kustomize and manifest.
type Component struct {
	Name        string `yaml:"name" json:"name" need:"true"`
	DisplayName string `yaml:"displayName,omitempty" json:"displayName,omitempty"`
	// ValueOverrideKeys are alternative names of the component for --set.
	ValueOverrideKeys []string     `yaml:"valueOverrideKeys,omitempty" json:"valueOverrideKeys,omitempty"`
	HealthCheck       *HealthCheck `yaml:"healthCheck,omitempty" json:"healthCheck,omitempty"`

	Helm      *HelmDefaults      `yaml:"helm,omitempty" json:"helm,omitempty"`
	Kustomize *KustomizeDefaults `yaml:"kustomize,omitempty" json:"kustomize,omitempty"`
	Manifest  *ManifestDefaults  `yaml:"manifest,omitempty" json:"manifest,omitempty"`

	// ManifestFiles are used if no overlay names any.
	ManifestFiles []string `yaml:"manifestFiles,omitempty" json:"manifestFiles,omitempty"`

	NodeScheduling *NodeScheduling `yaml:"nodeScheduling,omitempty" json:"nodeScheduling,omitempty"`
	PodScheduling  *PodScheduling  `yaml:"podScheduling,omitempty" json:"podScheduling,omitempty"`
	// StorageClassPaths are value paths for a storage class.
	StorageClassPaths       []string `yaml:"storageClassPaths,omitempty" json:"storageClassPaths,omitempty"`
	SharedStorageClassPaths []string `yaml:"sharedStorageClassPaths,omitempty" json:"sharedStorageClassPaths,omitempty"`
	// MixinSafeOverridePaths are value paths that a mixin may set.
	MixinSafeOverridePaths []string              `yaml:"mixinSafeOverridePaths,omitempty" json:"mixinSafeOverridePaths,omitempty"`
	Validations            []ComponentValidation `yaml:"validations,omitempty" json:"validations,omitempty"`
	Upgrades               *Upgrades             `yaml:"upgrades,omitempty" json:"upgrades,omitempty"`
	// TestTier is for the component tests of other implementations.
	TestTier string `yaml:"testTier,omitempty" json:"testTier,omitempty"`

	// GKECriticalPriority: the chart's pods have a system-critical priority class.
	GKECriticalPriority bool `yaml:"gkeCriticalPriority,omitempty" json:"gkeCriticalPriority,omitempty"`
	// HasSelfRefCRDs: the chart has objects of kinds that it defines itself.
	HasSelfRefCRDs bool `yaml:"hasSelfRefCRDs,omitempty" json:"hasSelfRefCRDs,omitempty"`
	// OwnsCRDs: no other chart defines the same kinds.
	OwnsCRDs bool `yaml:"ownsCRDs,omitempty" json:"ownsCRDs,omitempty"`
	// ManifestsUseChartCRDs: the manifests use kinds that the chart defines.
	ManifestsUseChartCRDs bool `yaml:"manifestsUseChartCRDs,omitempty" json:"manifestsUseChartCRDs,omitempty"`
}

// HealthCheck configures the component's health check.
type HealthCheck struct {
	// AssertFile holds Chainsaw assertions, relative to the recipe tree.
	AssertFile string `yaml:"assertFile,omitempty" json:"assertFile,omitempty"`
}

// HelmDefaults apply if overlays do not set the field.
type HelmDefaults struct {
	// DefaultRepository is empty for a component with manifests only.
	DefaultRepository string `yaml:"defaultRepository,omitempty" json:"defaultRepository,omitempty"`
	// DefaultChart may have the name of a repository as prefix: nvidia/gpu-operator.
	DefaultChart     string `yaml:"defaultChart,omitempty" json:"defaultChart,omitempty"`
	DefaultVersion   string `yaml:"defaultVersion,omitempty" json:"defaultVersion,omitempty"`
	DefaultNamespace string `yaml:"defaultNamespace,omitempty" json:"defaultNamespace,omitempty"`
}

// KustomizeDefaults apply if overlays do not set the field.
type KustomizeDefaults struct {
	DefaultSource    string `yaml:"defaultSource,omitempty" json:"defaultSource,omitempty"`
	DefaultPath      string `yaml:"defaultPath,omitempty" json:"defaultPath,omitempty"`
	DefaultTag       string `yaml:"defaultTag,omitempty" json:"defaultTag,omitempty"`
	DefaultNamespace string `yaml:"defaultNamespace,omitempty" json:"defaultNamespace,omitempty"`
}

// ManifestDefaults apply to a component with manifests only.
type ManifestDefaults struct {
	DefaultNamespace string `yaml:"defaultNamespace,omitempty" json:"defaultNamespace,omitempty"`
}

// NodeScheduling has the value paths that place the component's pods on nodes.
type NodeScheduling struct {
	// NodeCountPaths are set to the number of nodes.
	NodeCountPaths []string `yaml:"nodeCountPaths,omitempty" json:"nodeCountPaths,omitempty"`
	// System is for pods on system nodes, Accelerated for pods on GPU nodes.
	System      *SchedulingPaths `yaml:"system,omitempty" json:"system,omitempty"`
	Accelerated *SchedulingPaths `yaml:"accelerated,omitempty" json:"accelerated,omitempty"`
}

// SchedulingPaths are value paths.
type SchedulingPaths struct {
	NodeSelectorPaths []string `yaml:"nodeSelectorPaths,omitempty" json:"nodeSelectorPaths,omitempty"`
	TolerationPaths   []string `yaml:"tolerationPaths,omitempty" json:"tolerationPaths,omitempty"`
	// TaintPaths are set to a taint as a mapping, TaintStrPaths to key=value:effect.
	TaintPaths    []string `yaml:"taintPaths,omitempty" json:"taintPaths,omitempty"`
	TaintStrPaths []string `yaml:"taintStrPaths,omitempty" json:"taintStrPaths,omitempty"`
	// RequireNodeSelector rejects a deployment without a node selector.
	RequireNodeSelector bool `yaml:"requireNodeSelector,omitempty" json:"requireNodeSelector,omitempty"`
	// RequireNodeSelectorIfStorageClassSet does so if a storage class is set.
	RequireNodeSelectorIfStorageClassSet bool `yaml:"requireNodeSelectorIfStorageClassSet,omitempty" json:"requireNodeSelectorIfStorageClassSet,omitempty"`
}

// PodScheduling has value paths for workloads.
type PodScheduling struct {
	Workload *WorkloadPaths `yaml:"workload,omitempty" json:"workload,omitempty"`
}

// WorkloadPaths are value paths.
type WorkloadPaths struct {
	WorkloadSelectorPaths []string `yaml:"workloadSelectorPaths,omitempty" json:"workloadSelectorPaths,omitempty"`
}

// ComponentValidation is a check that other implementations run when they bundle.
type ComponentValidation struct {
	Function string `yaml:"function" json:"function" need:"true"`
	Severity string `yaml:"severity,omitempty" json:"severity,omitempty" enum:"info,warning,error"`
	// Conditions are the criteria under which it runs: each a list of values.
	Conditions map[string][]string `yaml:"conditions,omitempty" json:"conditions,omitempty"`
	Message    string              `yaml:"message,omitempty" json:"message,omitempty"`
}

// Upgrades refers to notes on upgrading the component.
type Upgrades struct {
	File string `yaml:"file,omitempty" json:"file,omitempty"`
}
