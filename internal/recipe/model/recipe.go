package model

import "github.com/firstlight/firstlight/internal/recipe/criteria"

// Recipe is the result of resolving overlays.
type Recipe struct {
	Header          `yaml:",inline"`
	Metadata        RecipeMetadata    `yaml:"metadata" json:"metadata"`
	Criteria        criteria.Criteria `yaml:"criteria" json:"criteria"`
	Constraints     []Constraint      `yaml:"constraints,omitempty" json:"constraints,omitempty"`
	ComponentRefs   []ComponentRef    `yaml:"componentRefs" json:"componentRefs"`
	DeploymentOrder []string          `yaml:"deploymentOrder" json:"deploymentOrder"`
	Validation      *Validation       `yaml:"validation,omitempty" json:"validation,omitempty"`
}

// RecipeMetadata describes the origin of a recipe.
type RecipeMetadata struct {
	// Version of the program that resolved it.
	Version string `yaml:"version,omitempty" json:"version,omitempty"`
	// AppliedOverlays in merge order.
	AppliedOverlays []string `yaml:"appliedOverlays,omitempty" json:"appliedOverlays,omitempty"`
	// AppliedMixins in merge order.
	AppliedMixins []string `yaml:"appliedMixins,omitempty" json:"appliedMixins,omitempty"`
	// ExcludedOverlays match but were excluded by measurements of the cluster.
	ExcludedOverlays []ExcludedOverlay `yaml:"excludedOverlays,omitempty" json:"excludedOverlays,omitempty"`
	// ConstraintWarnings are the constraints that did not hold.
	ConstraintWarnings []ConstraintWarning `yaml:"constraintWarnings,omitempty" json:"constraintWarnings,omitempty"`
	// SelectedProfile is the value of the recipe's profile.
	SelectedProfile *SelectedProfile `yaml:"selectedProfile,omitempty" json:"selectedProfile,omitempty"`
}

// ExcludedOverlay is an excluded overlay with the reason.
type ExcludedOverlay struct {
	Name   string `yaml:"name" json:"name" need:"true"`
	Reason string `yaml:"reason,omitempty" json:"reason,omitempty"`
}

// ConstraintWarning is a constraint that did not hold or is unobserved.
type ConstraintWarning struct {
	Overlay    string `yaml:"overlay" json:"overlay"`
	Constraint string `yaml:"constraint" json:"constraint"`
	Expected   string `yaml:"expected" json:"expected"`
	Actual     string `yaml:"actual,omitempty" json:"actual,omitempty"`
	Reason     string `yaml:"reason" json:"reason"`
}

// SelectedProfile is a selected profile value.
type SelectedProfile struct {
	Name       string `yaml:"name" json:"name" need:"true"`
	Value      string `yaml:"value" json:"value" need:"true"`
	Advertiser string `yaml:"advertiser,omitempty" json:"advertiser,omitempty"`
}
