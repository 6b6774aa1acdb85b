// Package rule is the catalogue of rules that recipe trees are checked against. Names of
// rules are part of the interface: reports and suppressions refer to them.
package rule

import (
	"slices"

	"github.com/firstlight/firstlight/internal/diag"
)

// All returns every rule, including diag.FileRules, in the order of the tables.
func All() []diag.Rule {
	return slices.Concat(diag.FileRules, treeRules, recipeRules, profileRules, footprintRules, styleRules)
}

// Rules for references between the files of a tree.
var (
	NoBase           = newRule("no-base", diag.Error, "tree without overlays/base.yaml", "add overlays/base.yaml, the root that every overlay is merged onto")
	StrayOverlay     = newRule("stray-overlay", diag.Warning, "overlay outside of overlays/, which is ignored", "move the file to overlays/, or remove it from the tree")
	DuplicateName    = newRule("duplicate-name", diag.Error, "two files with the same metadata.name", "rename one of them; only one takes effect")
	DuplicateEntry   = newRule("duplicate-entry", diag.Error, "list with a duplicate entry", "merge the two entries into one")
	MissingParent    = newRule("missing-parent", diag.Error, "spec.base names an overlay that does not exist", "correct spec.base, or add that overlay")
	BaseCycle        = newRule("base-cycle", diag.Error, "cycle of spec.base references", "break the cycle: give one of the overlays another base")
	BaseCriteria     = newRule("base-criteria", diag.Error, "criteria that contradict those of the base", "correct the criteria or spec.base: settings for another service would be merged in")
	Unreachable      = newRule("unreachable", diag.Warning, "overlay without criteria that is not the base of another: it never applies", "give it criteria, or use it as a base")
	UnknownMixin     = newRule("unknown-mixin", diag.Error, "spec.mixins names a mixin that does not exist", "correct the name, or add the mixin to mixins/")
	MissingFile      = newRule("missing-file", diag.Error, "reference to a file that does not exist", "correct the path, which is relative to the recipe tree, or add the file")
	OutsideFile      = newRule("outside-file", diag.Error, "path that leaves the recipe tree", "keep the file in the tree and write its path relative to it")
	ValuesFile       = newRule("values-file", diag.Error, "values file that is not a YAML mapping", "write Helm values as a mapping")
	RegistryShape    = newRule("registry-shape", diag.Error, "registry entry without exactly one of helm, kustomize and manifest", "keep the one that deploys the component")
	UnknownComponent = newRule("unknown-component", diag.Error, "component that is not in the registry and has no source of its own", "correct the name, add the component to registry.yaml, or give it a source")
	EnabledType      = newRule("enabled-type", diag.Error, "overrides.enabled or overrides.install is not a boolean", "write true or false; any other value deploys the component")
	ConstraintSyntax = newRule("constraint-syntax", diag.Error, "invalid constraint expression", "write an operator (>=, <=, >, <, ==, !=) and a version, or the exact text")
	ConstraintPath   = newRule("constraint-path", diag.Error, "constraint that does not name a measurement", "write Type.Subtype.Key, for example K8s.server.version")
	UnknownCheck     = newRule("unknown-check", diag.Error, "validation names a check that is not in the validator catalogue", "correct the name, or add the check to validators/catalog.yaml")
	CheckPhase       = newRule("check-phase", diag.Error, "check in another phase than in the catalogue", "move the check to its phase")
	HealthCheck      = newRule("health-check", diag.Error, "health check that a validation cannot run", "write a Chainsaw test with assert and error operations only")
	NoHealthCheck    = newRule("no-health-check", diag.Warning, "component without a health check: validations of its recipes fail", "write checks/NAME/health-check.yaml, and name it in healthCheck.assertFile of registry.yaml")
	ProfileShape     = newRule("profile-shape", diag.Error, "profile whose default is not one of its values, or whose values assign different paths", "make default one of the values, and let each value assign the same paths")

	treeRules = []diag.Rule{
		NoBase, StrayOverlay, DuplicateName, DuplicateEntry, MissingParent, BaseCycle, BaseCriteria, Unreachable, UnknownMixin, MissingFile, OutsideFile, ValuesFile,
		RegistryShape, UnknownComponent, EnabledType, ConstraintSyntax, ConstraintPath, UnknownCheck, CheckPhase, HealthCheck, NoHealthCheck, ProfileShape,
	}
)

// Rules for resolved recipes.
var (
	UnknownDependency  = newRule("unknown-dependency", diag.Error, "dependency on a component that the recipe does not have", "correct the name in dependencyRefs, or add the component to the recipe")
	DependencyCycle    = newRule("dependency-cycle", diag.Error, "cycle of component dependencies: no deployment order exists", "remove one of the dependencies")
	DisabledDependency = newRule("disabled-dependency", diag.Warning, "dependency on a component that the recipe disables", "remove the dependency in the overlay that disables the component, or enable it")
	MixinConflict      = newRule("mixin-conflict", diag.Error, "mixin that sets a value already set by an overlay or another mixin", "set the value in one place only")
	Unpinned           = newRule("unpinned", diag.Error, "chart without a version: deployments change without a change in the tree", "set version in the overlay, or defaultVersion in registry.yaml")
	ComponentShape     = newRule("component-shape", diag.Error, "component with fields that do not fit its type", "keep the fields of one type: chart and version for Helm, path and tag for Kustomize")
	Tie                = newRule("tie", diag.Warning, "two equally specific, unrelated overlays set one value differently: the order of their names decides", "make one the base of the other, or set the value in one of them only")
	ProfileConflict    = newRule("profile-conflict", diag.Error, "two overlays of one recipe declare different profiles", "keep one profile in a recipe")

	recipeRules = []diag.Rule{UnknownDependency, DependencyCycle, DisabledDependency, MixinConflict, Unpinned, ComponentShape, Tie, ProfileConflict}
)

// Rules for settings that work but are probably not intended.
var (
	FileName        = newRule("file-name", diag.Warning, "file name different from metadata.name", "rename the file so that the overlay can be found")
	CriteriaValue   = newRule("criteria-value", diag.Warning, "unknown criteria value that is close to a known one", "correct the value; no query uses this one")
	SameCriteria    = newRule("same-criteria", diag.Note, "two overlays with the same criteria: both apply, in the order of their names", "merge the two, unless both are wanted")
	UnusedFile      = newRule("unused-file", diag.Note, "values or manifest file without a reference", "remove the file, or refer to it")
	UnusedMixin     = newRule("unused-mixin", diag.Note, "mixin that no overlay uses", "remove the mixin, or use it")
	UnusedComponent = newRule("unused-component", diag.Note, "registry entry that no overlay uses", "remove the entry, or use it")

	styleRules = []diag.Rule{FileName, CriteriaValue, SameCriteria, UnusedFile, UnusedMixin, UnusedComponent}
)

func newRule(name string, severity diag.Severity, summary, remedy string) diag.Rule {
	return diag.Rule{Name: name, Severity: severity, Summary: summary, Remedy: remedy}
}
