package model

// Types of components.
const (
	Helm      = "Helm"
	Kustomize = "Kustomize"
)

// ComponentRef is a component of an overlay or a recipe. Missing fields are inherited from
// bases and finally the registry.
type ComponentRef struct {
	// Name of the component in the registry.
	Name string `yaml:"name" json:"name" need:"true"`
	// Namespace of the deployment.
	Namespace string `yaml:"namespace,omitempty" json:"namespace,omitempty"`
	// Type of deployment.
	Type string `yaml:"type,omitempty" json:"type,omitempty" enum:"Helm,Kustomize"`
	// Chart is the chart's name in the repository; empty: the component's name.
	Chart string `yaml:"chart,omitempty" json:"chart,omitempty"`
	// Source is a chart repository (https:// or oci://) or, for Kustomize, a Git repository.
	Source string `yaml:"source,omitempty" json:"source,omitempty"`
	// Version of the chart.
	Version string `yaml:"version,omitempty" json:"version,omitempty"`
	// Tag and Path of a Kustomize component: the Git reference, and the directory in the
	// repository.
	Tag  string `yaml:"tag,omitempty" json:"tag,omitempty"`
	Path string `yaml:"path,omitempty" json:"path,omitempty"`
	// ValuesFile has Helm values; the path is relative to the recipe tree.
	// components/NAME/values.yaml, if it exists, has lower precedence.
	ValuesFile string `yaml:"valuesFile,omitempty" json:"valuesFile,omitempty"`
	// Overrides are Helm values with precedence over those of files. A null removes a chart's
	// default. enabled: false disables the component.
	Overrides map[string]any `yaml:"overrides,omitempty" json:"overrides,omitempty"`
	// Patches are Kustomize patches.
	Patches []string `yaml:"patches,omitempty" json:"patches,omitempty"`
	// ManifestFiles are applied after the chart, PreManifestFiles before it.
	ManifestFiles    []string `yaml:"manifestFiles,omitempty" json:"manifestFiles,omitempty"`
	PreManifestFiles []string `yaml:"preManifestFiles,omitempty" json:"preManifestFiles,omitempty"`
	// DependencyRefs are components that must be deployed first.
	DependencyRefs []string `yaml:"dependencyRefs,omitempty" json:"dependencyRefs,omitempty"`
	// Cleanup removes the component after validation.
	Cleanup *bool `yaml:"cleanup,omitempty" json:"cleanup,omitempty"`
	// ExpectedResources must exist after deployment.
	ExpectedResources []ExpectedResource `yaml:"expectedResources,omitempty" json:"expectedResources,omitempty"`
	// HealthCheckAsserts are Chainsaw assertions that replace the registry's file.
	HealthCheckAsserts string `yaml:"healthCheckAsserts,omitempty" json:"healthCheckAsserts,omitempty"`
	// HealthCheckSkip skips the registry's health check.
	HealthCheckSkip *bool `yaml:"healthCheckSkip,omitempty" json:"healthCheckSkip,omitempty"`
}

// ExpectedResource is an object in the cluster.
type ExpectedResource struct {
	Kind      string `yaml:"kind" json:"kind" need:"true"`
	Name      string `yaml:"name" json:"name" need:"true"`
	Namespace string `yaml:"namespace,omitempty" json:"namespace,omitempty"`
}

// Gates returns the keys of Overrides that enable a component.
func Gates() []string { return []string{"enabled", "install"} }

// Enabled reports whether the component is deployed.
func (c *ComponentRef) Enabled() bool {
	for _, gate := range Gates() {
		if on, ok := c.Overrides[gate].(bool); ok && !on {
			return false
		}
	}
	return true
}
