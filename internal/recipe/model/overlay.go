package model

import "github.com/firstlight/firstlight/internal/recipe/criteria"

// Overlay is one layer of configuration. It applies to every query that matches its criteria,
// and to the overlays based on it.
type Overlay struct {
	Header   `yaml:",inline"`
	Metadata Metadata `yaml:"metadata" json:"metadata" need:"true"`
	Spec     Spec     `yaml:"spec" json:"spec" need:"true"`
}

// Spec is the content of an overlay.
type Spec struct {
	// Base is the overlay that this one is merged onto; empty or base: the root,
	// overlays/base.yaml.
	Base string `yaml:"base,omitempty" json:"base,omitempty"`
	// Criteria of the queries that the overlay applies to. Without them it only applies to
	// overlays based on it.
	Criteria *criteria.Criteria `yaml:"criteria,omitempty" json:"criteria,omitempty"`
	// Mixins are merged after all overlays.
	Mixins []string `yaml:"mixins,omitempty" json:"mixins,omitempty"`
	// Constraints are requirements for the cluster.
	Constraints []Constraint `yaml:"constraints,omitempty" json:"constraints,omitempty"`
	// ComponentRefs are the components to deploy.
	ComponentRefs []ComponentRef `yaml:"componentRefs,omitempty" json:"componentRefs,omitempty"`
	// Validation has the checks of a cluster, by phase.
	Validation *Validation `yaml:"validation,omitempty" json:"validation,omitempty"`
	// Profile is a choice made when the recipe is resolved.
	Profile *Profile `yaml:"profile,omitempty" json:"profile,omitempty"`
	// Resolution has options of other implementations; it is kept but not interpreted.
	Resolution map[string]any `yaml:"resolution,omitempty" json:"resolution,omitempty"`
}

// Constraint is one requirement for a cluster.
type Constraint struct {
	// Name is the measurement, Type.Subtype.Key (K8s.server.version), or the name of a check
	// with its own figure.
	Name string `yaml:"name" json:"name" need:"true"`
	// Value is an operator (>=, <=, >, <, ==, !=) and a version, or the exact text.
	Value string `yaml:"value" json:"value" need:"true"`
	// Severity warning: a recipe applies even if the constraint does not hold.
	Severity string `yaml:"severity,omitempty" json:"severity,omitempty" enum:"error,warning"`
	// Remediation is the advice if it does not hold.
	Remediation string `yaml:"remediation,omitempty" json:"remediation,omitempty"`
	// Unit of a figure, for display.
	Unit string `yaml:"unit,omitempty" json:"unit,omitempty"`
}

// Mixin is a fragment that several overlays share: constraints and components only.
type Mixin struct {
	Header   `yaml:",inline"`
	Metadata Metadata  `yaml:"metadata" json:"metadata" need:"true"`
	Spec     MixinSpec `yaml:"spec" json:"spec" need:"true"`
}

// MixinSpec is the content of a mixin.
type MixinSpec struct {
	// Constraints must not be set elsewhere in the recipe.
	Constraints []Constraint `yaml:"constraints,omitempty" json:"constraints,omitempty"`
	// ComponentRefs are new components, or additions to existing ones.
	ComponentRefs []ComponentRef `yaml:"componentRefs,omitempty" json:"componentRefs,omitempty"`
}

// Profile is one choice with a default; each value is a fragment to merge in.
type Profile struct {
	Name        string `yaml:"name" json:"name" need:"true"`
	Description string `yaml:"description,omitempty" json:"description,omitempty"`
	// Default is the value if none is selected.
	Default string `yaml:"default" json:"default" need:"true"`
	// Values by name. All must assign the same paths.
	Values map[string]ProfileValue `yaml:"values" json:"values" need:"true"`
}

// ProfileValue is the content of one value of a profile.
type ProfileValue struct {
	// Advertiser is external if GPUs are advertised outside of the recipe.
	Advertiser  string       `yaml:"advertiser,omitempty" json:"advertiser,omitempty" enum:"external"`
	Constraints []Constraint `yaml:"constraints,omitempty" json:"constraints,omitempty"`
	// ReadinessConstraints are judged after deployment.
	ReadinessConstraints []Constraint          `yaml:"readinessConstraints,omitempty" json:"readinessConstraints,omitempty"`
	ComponentRefs        []ProfileComponentRef `yaml:"componentRefs,omitempty" json:"componentRefs,omitempty"`
}

// ProfileComponentRef sets values of an existing component.
type ProfileComponentRef struct {
	Name      string         `yaml:"name" json:"name" need:"true"`
	Overrides map[string]any `yaml:"overrides,omitempty" json:"overrides,omitempty"`
}

// CriteriaFile is a query for a recipe.
type CriteriaFile struct {
	Header   `yaml:",inline"`
	Metadata Metadata          `yaml:"metadata,omitempty" json:"metadata"`
	Spec     criteria.Criteria `yaml:"spec" json:"spec" need:"true"`
}
