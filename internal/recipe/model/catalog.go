package model

// Catalog declares the checks that validation phases name.
type Catalog struct {
	Header     `yaml:",inline"`
	Metadata   CatalogMetadata `yaml:"metadata,omitempty" json:"metadata"`
	Validators []Validator     `yaml:"validators" json:"validators" need:"true"`
}

// CatalogMetadata names a catalogue.
type CatalogMetadata struct {
	Name    string `yaml:"name,omitempty" json:"name,omitempty"`
	Version string `yaml:"version,omitempty" json:"version,omitempty"`
}

// Validator is one check, run as a container.
type Validator struct {
	Name string `yaml:"name" json:"name" need:"true"`
	// Phase of the validation that the check belongs to.
	Phase       string `yaml:"phase" json:"phase" need:"true" enum:"readiness,deployment,performance,conformance"`
	Description string `yaml:"description,omitempty" json:"description,omitempty"`
	Image       string `yaml:"image,omitempty" json:"image,omitempty"`
	// Timeout of one run: 5m.
	Timeout   string         `yaml:"timeout,omitempty" json:"timeout,omitempty"`
	Args      []string       `yaml:"args,omitempty" json:"args,omitempty"`
	Env       []EnvVar       `yaml:"env,omitempty" json:"env,omitempty"`
	Resources map[string]any `yaml:"resources,omitempty" json:"resources,omitempty"`
	// DependencyAffinity places the check's pod near those of a component.
	DependencyAffinity []DependencyAffinity `yaml:"dependencyAffinity,omitempty" json:"dependencyAffinity,omitempty"`
}

// EnvVar is an environment variable.
type EnvVar struct {
	Name  string `yaml:"name" json:"name" need:"true"`
	Value string `yaml:"value,omitempty" json:"value,omitempty"`
}

// DependencyAffinity selects pods of a component.
type DependencyAffinity struct {
	ComponentRef     string            `yaml:"componentRef" json:"componentRef" need:"true"`
	PodLabelSelector map[string]string `yaml:"podLabelSelector,omitempty" json:"podLabelSelector,omitempty"`
	Requirement      string            `yaml:"requirement,omitempty" json:"requirement,omitempty" enum:"preferred,required"`
}
