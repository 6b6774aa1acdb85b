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

// APIVersion is the version that firstlight writes.
const APIVersion = "aicr.run/v1beta1"

// groups are the supported API groups, in any version.
var groups = []string{"aicr.run", "aicr.nvidia.com", "validator.nvidia.com"}

// KnownGroup reports whether the API group is supported.
func KnownGroup(apiVersion string) bool {
	group, version, ok := strings.Cut(apiVersion, "/")
	if !ok || version == "" {
		return false
	}
	return slices.Contains(groups, group)
}

// Header has the common fields of all files.
type Header struct {
	// Kind of the file.
	Kind string `yaml:"kind" json:"kind" need:"true"`
	// APIVersion is the group and version of the format: aicr.run/v1beta1. All versions of the
	// groups aicr.run and aicr.nvidia.com are accepted.
	APIVersion string `yaml:"apiVersion" json:"apiVersion" need:"true"`
}

// Metadata names a file.
type Metadata struct {
	// Name is unique among the files of its kind.
	Name string `yaml:"name" json:"name" need:"true"`
	// Labels and Annotations are for other tools; firstlight ignores them.
	Labels      map[string]string `yaml:"labels,omitempty" json:"labels,omitempty"`
	Annotations map[string]string `yaml:"annotations,omitempty" json:"annotations,omitempty"`
}
