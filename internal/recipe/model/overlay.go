package model

import "github.com/firstlight/firstlight/internal/recipe/criteria"

// Overlay is one layer of configuration. It applies to every query that its
// criteria match, and to whatever is based on it.
type Overlay struct {
	Header   `yaml:",inline"`
	Metadata Metadata `yaml:"metadata" json:"metadata" need:"true"`
	Spec     Spec     `yaml:"spec" json:"spec" need:"true"`
}

// Spec is what an overlay says.
type Spec struct {
	// Base is the overlay that this one is merged onto; empty or base: the root,
	// overlays/base.yaml.
	Base string `yaml:"base,omitempty" json:"base,omitempty"`
	// Criteria say what queries the overlay applies to. Without them it applies
	// only to what is based on it.
	Criteria *criteria.Criteria `yaml:"criteria,omitempty" json:"criteria,omitempty"`
	// Mixins are names of mixins that are merged in once all overlays are.
	Mixins []string `yaml:"mixins,omitempty" json:"mixins,omitempty"`
	// Constraints are what a cluster must be like.
	Constraints []Constraint `yaml:"constraints,omitempty" json:"constraints,omitempty"`
	// ComponentRefs are the components to deploy.
	ComponentRefs []ComponentRef `yaml:"componentRefs,omitempty" json:"componentRefs,omitempty"`
	// Validation is what is checked on a cluster, phase by phase.
	Validation *Validation `yaml:"validation,omitempty" json:"validation,omitempty"`
	// Profile is a choice that is left to whoever resolves the recipe.
	Profile *Profile `yaml:"profile,omitempty" json:"profile,omitempty"`
	// Resolution holds options of other implementations; it is kept, not interpreted.
	Resolution map[string]any `yaml:"resolution,omitempty" json:"resolution,omitempty"`
}

// Constraint is one demand on a cluster.
type Constraint struct {
	// Name is the measurement, Type.Subtype.Key (K8s.server.version), or the name
	// of a check that brings its own figure.
	Name string `yaml:"name" json:"name" need:"true"`
	// Value is an operator (>=, <=, >, <, ==, !=) and a version, or the exact text.
	Value string `yaml:"value" json:"value" need:"true"`
	// Severity warning lets a recipe apply where the constraint does not hold.
	Severity string `yaml:"severity,omitempty" json:"severity,omitempty" enum:"error,warning"`
	// Remediation says what to do when it does not hold.
	Remediation string `yaml:"remediation,omitempty" json:"remediation,omitempty"`
	// Unit of a figure, for people.
	Unit string `yaml:"unit,omitempty" json:"unit,omitempty"`
}

// Mixin is a fragment that several overlays share: constraints and components only.
type Mixin struct {
	Header   `yaml:",inline"`
	Metadata Metadata  `yaml:"metadata" json:"metadata" need:"true"`
	Spec     MixinSpec `yaml:"spec" json:"spec" need:"true"`
}

// MixinSpec is what a mixin adds.
type MixinSpec struct {
	// Constraints that nothing else of the recipe may set.
	Constraints []Constraint `yaml:"constraints,omitempty" json:"constraints,omitempty"`
	// ComponentRefs are new components, or additions to those that are there.
	ComponentRefs []ComponentRef `yaml:"componentRefs,omitempty" json:"componentRefs,omitempty"`
}

// Profile is one choice with a default; each value is a fragment to merge in.
type Profile struct {
	Name        string `yaml:"name" json:"name" need:"true"`
	Description string `yaml:"description,omitempty" json:"description,omitempty"`
	// Default is the value that is taken when none is asked for.
	Default string `yaml:"default" json:"default" need:"true"`
	// Values by name. All of them assign the same paths.
	Values map[string]ProfileValue `yaml:"values" json:"values" need:"true"`
}

// ProfileValue is what one value of a profile brings.
type ProfileValue struct {
	// Advertiser is external where something outside the recipe advertises GPUs.
	Advertiser  string       `yaml:"advertiser,omitempty" json:"advertiser,omitempty" enum:"external"`
	Constraints []Constraint `yaml:"constraints,omitempty" json:"constraints,omitempty"`
	// ReadinessConstraints are judged once the recipe is deployed.
	ReadinessConstraints []Constraint          `yaml:"readinessConstraints,omitempty" json:"readinessConstraints,omitempty"`
	ComponentRefs        []ProfileComponentRef `yaml:"componentRefs,omitempty" json:"componentRefs,omitempty"`
}

// ProfileComponentRef sets values of a component that the recipe has.
type ProfileComponentRef struct {
	Name      string         `yaml:"name" json:"name" need:"true"`
	Overrides map[string]any `yaml:"overrides,omitempty" json:"overrides,omitempty"`
}

// CriteriaFile asks for a recipe.
type CriteriaFile struct {
	Header   `yaml:",inline"`
	Metadata Metadata          `yaml:"metadata,omitempty" json:"metadata"`
	Spec     criteria.Criteria `yaml:"spec" json:"spec" need:"true"`
}
