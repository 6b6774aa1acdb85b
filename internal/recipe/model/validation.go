package model

// Validation has the phases to run.
type Validation struct {
	Readiness   *Phase `yaml:"readiness,omitempty" json:"readiness,omitempty"`
	Deployment  *Phase `yaml:"deployment,omitempty" json:"deployment,omitempty"`
	Performance *Phase `yaml:"performance,omitempty" json:"performance,omitempty"`
	Conformance *Phase `yaml:"conformance,omitempty" json:"conformance,omitempty"`
}

// PhaseNames returns the phases in execution order.
func PhaseNames() []string {
	return []string{"readiness", "deployment", "performance", "conformance"}
}

// Phase returns the field of a phase; nil for an unknown name.
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
	// Constraints on measurements, or on figures of the phase's checks.
	Constraints []Constraint `yaml:"constraints,omitempty" json:"constraints,omitempty"`
	// Checks are names in the validator catalogue.
	Checks []string `yaml:"checks,omitempty" json:"checks,omitempty"`
	// NodeSelection selects the nodes to check.
	NodeSelection *NodeSelection `yaml:"nodeSelection,omitempty" json:"nodeSelection,omitempty"`
	// Infrastructure is a component that the phase requires.
	Infrastructure string `yaml:"infrastructure,omitempty" json:"infrastructure,omitempty"`
}

// NodeSelection is a set of nodes.
type NodeSelection struct {
	// Selector has the required labels.
	Selector map[string]string `yaml:"selector,omitempty" json:"selector,omitempty"`
	// MaxNodes is the maximum number; 0: all.
	MaxNodes int `yaml:"maxNodes,omitempty" json:"maxNodes,omitempty" min:"0"`
	// ExcludeNodes are names of excluded nodes.
	ExcludeNodes []string `yaml:"excludeNodes,omitempty" json:"excludeNodes,omitempty"`
}
