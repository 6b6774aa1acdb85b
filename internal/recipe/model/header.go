package model

import (
	"slices"
	"strings"
)

// Kinds of files.
const (
	KindOverlay  = "RecipeMetadata"
	KindMixin    = "RecipeMixin"
	KindRegistry = "ComponentRegistry"
	KindCatalog  = "ValidatorCatalog"
	KindCriteria = "RecipeCriteria"
	KindRecipe   = "RecipeResult"
	KindSnapshot = "Snapshot"
)

// APIVersion is what files of ours carry.
const APIVersion = "aicr.run/v1beta1"

// groups are the API groups whose files are read, in any version.
var groups = []string{"aicr.run", "aicr.nvidia.com", "validator.nvidia.com"}

// KnownGroup says whether files of an apiVersion are read.
func KnownGroup(apiVersion string) bool {
	group, version, ok := strings.Cut(apiVersion, "/")
	if !ok || version == "" {
		return false
	}
	return slices.Contains(groups, group)
}

// Header is what every file begins with.
type Header struct {
	// Kind of the file.
	Kind string `yaml:"kind" json:"kind" need:"true"`
	// APIVersion is the group and version of the format: aicr.run/v1beta1. Groups
	// aicr.run and aicr.nvidia.com are read in every version.
	APIVersion string `yaml:"apiVersion" json:"apiVersion" need:"true"`
}

// Metadata names a file.
type Metadata struct {
	// Name is unique among the files of its kind.
	Name string `yaml:"name" json:"name" need:"true"`
	// Labels and Annotations are for people and other tools; nothing here reads them.
	Labels      map[string]string `yaml:"labels,omitempty" json:"labels,omitempty"`
	Annotations map[string]string `yaml:"annotations,omitempty" json:"annotations,omitempty"`
}
