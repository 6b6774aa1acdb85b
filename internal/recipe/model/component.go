package model

// Types of components.
const (
	Helm      = "Helm"
	Kustomize = "Kustomize"
)

// ComponentRef is a component as an overlay or a recipe has it. What is not
// stated is inherited, at last from the registry.
type ComponentRef struct {
	// Name is the component's in the registry.
	Name string `yaml:"name" json:"name" need:"true"`
	// Namespace that it is deployed to.
	Namespace string `yaml:"namespace,omitempty" json:"namespace,omitempty"`
	// Type says how it is deployed.
	Type string `yaml:"type,omitempty" json:"type,omitempty" enum:"Helm,Kustomize"`
	// Chart is the chart's name in the repository; empty: the component's name.
	Chart string `yaml:"chart,omitempty" json:"chart,omitempty"`
	// Source is a chart repository (https:// or oci://), or of Kustomize a Git repository.
	Source string `yaml:"source,omitempty" json:"source,omitempty"`
	// Version of the chart.
	Version string `yaml:"version,omitempty" json:"version,omitempty"`
	// Tag and Path are of Kustomize: the Git reference, and the directory in it.
	Tag  string `yaml:"tag,omitempty" json:"tag,omitempty"`
	Path string `yaml:"path,omitempty" json:"path,omitempty"`
	// ValuesFile holds Helm values, relative to the recipe tree. Below it lies
	// components/NAME/values.yaml, where that is there.
	ValuesFile string `yaml:"valuesFile,omitempty" json:"valuesFile,omitempty"`
	// Overrides are Helm values over those of the files. A null takes a chart's
	// default away. enabled: false disables the component.
	Overrides map[string]any `yaml:"overrides,omitempty" json:"overrides,omitempty"`
	// Patches are Kustomize patches.
	Patches []string `yaml:"patches,omitempty" json:"patches,omitempty"`
	// ManifestFiles are applied after the chart, PreManifestFiles before it.
	ManifestFiles    []string `yaml:"manifestFiles,omitempty" json:"manifestFiles,omitempty"`
	PreManifestFiles []string `yaml:"preManifestFiles,omitempty" json:"preManifestFiles,omitempty"`
	// DependencyRefs are components that have to be deployed before.
	DependencyRefs []string `yaml:"dependencyRefs,omitempty" json:"dependencyRefs,omitempty"`
	// Cleanup removes the component after validation.
	Cleanup *bool `yaml:"cleanup,omitempty" json:"cleanup,omitempty"`
	// ExpectedResources must be there after deployment.
	ExpectedResources []ExpectedResource `yaml:"expectedResources,omitempty" json:"expectedResources,omitempty"`
	// HealthCheckAsserts are Chainsaw assertions, in place of the registry's file.
	HealthCheckAsserts string `yaml:"healthCheckAsserts,omitempty" json:"healthCheckAsserts,omitempty"`
	// HealthCheckSkip leaves the registry's health check out.
	HealthCheckSkip *bool `yaml:"healthCheckSkip,omitempty" json:"healthCheckSkip,omitempty"`
}

// ExpectedResource is an object in the cluster.
type ExpectedResource struct {
	Kind      string `yaml:"kind" json:"kind" need:"true"`
	Name      string `yaml:"name" json:"name" need:"true"`
	Namespace string `yaml:"namespace,omitempty" json:"namespace,omitempty"`
}

// Gates are the keys of Overrides that say whether a component is deployed.
func Gates() []string { return []string{"enabled", "install"} }

// Enabled says whether the component is deployed.
func (c *ComponentRef) Enabled() bool {
	for _, gate := range Gates() {
		if on, ok := c.Overrides[gate].(bool); ok && !on {
			return false
		}
	}
	return true
}
