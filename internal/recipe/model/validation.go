package model

// Validation is what is checked, phase by phase. A phase that is there is run.
type Validation struct {
	Readiness   *Phase `yaml:"readiness,omitempty" json:"readiness,omitempty"`
	Deployment  *Phase `yaml:"deployment,omitempty" json:"deployment,omitempty"`
	Performance *Phase `yaml:"performance,omitempty" json:"performance,omitempty"`
	Conformance *Phase `yaml:"conformance,omitempty" json:"conformance,omitempty"`
}

// PhaseNames are the phases in the order in which they are run.
func PhaseNames() []string {
	return []string{"readiness", "deployment", "performance", "conformance"}
}

// Phase is where the phase of a name is kept; nil for a name that there is not.
func (v *Validation) Phase(name string) **Phase {
	switch name {
	case "readiness":
		return &v.Readiness
	case "deployment":
		return &v.Deployment
	case "performance":
		return &v.Performance
	case "conformance":
		return &v.Conformance
	default:
		return nil
	}
}

// Phase is one phase of the validation.
type Phase struct {
	// Timeout of the whole phase: 10m.
	Timeout string `yaml:"timeout,omitempty" json:"timeout,omitempty"`
	// Constraints on measurements, or on the figures of the phase's checks.
	Constraints []Constraint `yaml:"constraints,omitempty" json:"constraints,omitempty"`
	// Checks are names in the validator catalogue.
	Checks []string `yaml:"checks,omitempty" json:"checks,omitempty"`
	// NodeSelection says which nodes are looked at.
	NodeSelection *NodeSelection `yaml:"nodeSelection,omitempty" json:"nodeSelection,omitempty"`
	// Infrastructure is a component that the phase needs.
	Infrastructure string `yaml:"infrastructure,omitempty" json:"infrastructure,omitempty"`
}

// NodeSelection is a set of nodes.
type NodeSelection struct {
	// Selector are labels that they have.
	Selector map[string]string `yaml:"selector,omitempty" json:"selector,omitempty"`
	// MaxNodes is how many at most; 0: all.
	MaxNodes int `yaml:"maxNodes,omitempty" json:"maxNodes,omitempty" min:"0"`
	// ExcludeNodes are names of nodes that are left out.
	ExcludeNodes []string `yaml:"excludeNodes,omitempty" json:"excludeNodes,omitempty"`
}
