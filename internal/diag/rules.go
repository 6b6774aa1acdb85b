package diag

import (
	"fmt"
	"slices"
)

// Rule is one thing that is checked.
type Rule struct {
	Name     string   `json:"name"`
	Severity Severity `json:"severity"`
	// Summary says in one line what the rule finds.
	Summary string `json:"summary"`
	// Remedy says what to do about it when the case has no better advice.
	Remedy string `json:"remedy"`
}

// At is a problem of this rule at a place.
func (r Rule) At(pos Pos, format string, args ...any) Problem {
	return Problem{Pos: pos, Rule: r.Name, Severity: r.Severity, Message: fmt.Sprintf(format, args...), Remedy: r.Remedy}
}

// Rules is the catalogue, in the order of its tables.
func Rules() []Rule {
	return slices.Concat(fileRules, treeRules, recipeRules, profileRules, footprintRules, styleRules)
}

// Find looks a rule up by its name.
func Find(name string) (Rule, bool) {
	all := Rules()
	i := slices.IndexFunc(all, func(r Rule) bool { return r.Name == name })
	if i < 0 {
		return Rule{}, false
	}
	return all[i], true
}

// What can be wrong with one file.
var (
	Unreadable = Rule{"unreadable", Error, "a file can't be read", "check that the file is there, is a regular file and may be read"}
	Syntax     = Rule{"syntax", Error, "a file is no YAML", "correct the YAML at this line; quotes, indentation and colons are what is mostly wrong"}
	Document   = Rule{"document", Error, "a file does not hold exactly one YAML document", "keep one document in a file"}
	UnknownKey = Rule{"unknown-key", Error, "a key that the format does not have", "correct or remove the key; nothing reads it"}
	TwiceKey   = Rule{"duplicate-key", Error, "a key is written twice in one block", "keep one of them; which one counts depends on the reader"}
	Type       = Rule{"wrong-type", Error, "a value is of another type than the format wants", "write a value of the type that the message names"}
	Missing    = Rule{"missing", Error, "a key that must be there is not, or is empty", "write the key"}
	Value      = Rule{"bad-value", Error, "a value that is not one of those that the format knows", "write one of the values that the message names"}
	Unquoted   = Rule{"unquoted", Warning, "a text that YAML takes for a number or a truth value", "put the value in quotes: other readers take 1.20 for 1.2"}
	Kind       = Rule{"unknown-kind", Error, "a file among the overlays, mixins or validators is of another kind", "correct kind, or move the file out of this directory"}
	Group      = Rule{"api-group", Error, "the apiVersion is of a group that this format does not have", "write aicr.run/v1beta1"}
	Extension  = Rule{"file-extension", Error, "a file among the overlays or mixins that is not read because of its name", "rename it so that it ends in .yaml"}

	fileRules = []Rule{Unreadable, Syntax, Document, UnknownKey, TwiceKey, Type, Missing, Value, Unquoted, Kind, Group, Extension}
)

// What can be wrong between the files of a tree.
var (
	NoBase         = Rule{"no-base", Error, "the tree has no overlays/base.yaml", "add overlays/base.yaml: the root that every overlay is merged onto"}
	StrayOverlay   = Rule{"stray-overlay", Warning, "an overlay outside of overlays/: it is not read", "move the file to overlays/, or take it out of the tree"}
	TwiceName      = Rule{"duplicate-name", Error, "two files have one metadata.name", "rename one of them; only one would count"}
	TwiceEntry     = Rule{"duplicate-entry", Error, "one list names the same thing twice", "merge the two entries into one"}
	MissingParent  = Rule{"missing-parent", Error, "spec.base names an overlay that is not there", "correct spec.base, or add that overlay"}
	BaseCycle      = Rule{"base-cycle", Error, "overlays are each other's base", "break the circle: one of them has to have another base"}
	Contradiction  = Rule{"base-criteria", Error, "the criteria contradict those of the base", "correct the criteria or spec.base: what is meant for another service would be merged in"}
	Unreachable    = Rule{"unreachable", Warning, "an overlay has no criteria and nothing is based on it: it never applies", "give it criteria, or base an overlay on it"}
	UnknownMixin   = Rule{"unknown-mixin", Error, "spec.mixins names a mixin that is not there", "correct the name, or add the mixin to mixins/"}
	MissingFile    = Rule{"missing-file", Error, "a file that is referred to is not there", "correct the path, which is relative to the recipe tree, or add the file"}
	OutsideFile    = Rule{"outside-file", Error, "a path leads out of the recipe tree", "keep the file in the tree and write its path relative to it"}
	ValuesFile     = Rule{"values-file", Error, "a values file does not hold a block of keys", "write Helm values: a block of keys"}
	RegistryShape  = Rule{"registry-shape", Error, "a registry entry has not exactly one of helm, kustomize and manifest", "keep the one by which the component is deployed"}
	UnknownPart    = Rule{"unknown-component", Error, "a component that the registry does not have, with nothing to deploy of its own", "correct the name, add the component to registry.yaml, or give it a source"}
	EnabledType    = Rule{"enabled-type", Error, "overrides.enabled or overrides.install is not true or false", "write true or false; anything else deploys the component"}
	ConstraintText = Rule{"constraint-syntax", Error, "a constraint's expression can't be read", "write an operator (>=, <=, >, <, ==, !=) and a version, or the exact text"}
	ConstraintPath = Rule{"constraint-path", Error, "a constraint names no measurement", "write Type.Subtype.Key, for example K8s.server.version"}
	UnknownCheck   = Rule{"unknown-check", Error, "validation names a check that the validator catalogue does not have", "correct the name, or add the check to validators/catalog.yaml"}
	CheckPhase     = Rule{"check-phase", Error, "a check stands in another phase than the catalogue gives it", "move the check to its phase"}
	HealthCheck    = Rule{"health-check", Error, "assertions of a component's health that a validation cannot use", "write a Chainsaw test of assert and error operations alone"}
	NoHealthCheck  = Rule{"no-health-check", Warning, "a component of recipes without a health check: a validation fails", "write checks/NAME/health-check.yaml, and name it in healthCheck.assertFile of registry.yaml"}
	ProfileShape   = Rule{"profile-shape", Error, "a profile's default is not among its values, or its values assign different paths", "make default one of the values, and let each value assign the same paths"}
	treeRules      = []Rule{NoBase, StrayOverlay, TwiceName, TwiceEntry, MissingParent, BaseCycle, Contradiction, Unreachable, UnknownMixin, MissingFile, OutsideFile, ValuesFile, RegistryShape, UnknownPart, EnabledType, ConstraintText, ConstraintPath, UnknownCheck, CheckPhase, HealthCheck, NoHealthCheck, ProfileShape}
)

// What can be wrong with a recipe, that is with what overlays resolve to.
var (
	UnknownDependency  = Rule{"unknown-dependency", Error, "a component depends on one that the recipe does not have", "correct the name in dependencyRefs, or add the component to the recipe"}
	DependencyCycle    = Rule{"dependency-cycle", Error, "components depend on each other in a circle: there is no order to deploy them in", "remove one of the dependencies"}
	DisabledDependency = Rule{"disabled-dependency", Warning, "a component depends on one that the recipe disables", "remove the dependency in the overlay that disables the component, or enable it"}
	MixinConflict      = Rule{"mixin-conflict", Error, "a mixin sets what the overlays or another mixin already set", "let one of them set it"}
	Unpinned           = Rule{"unpinned", Error, "a chart without a version: what is deployed changes without a change here", "write version in the overlay, or defaultVersion in registry.yaml"}
	Shape              = Rule{"component-shape", Error, "a component's fields do not fit its type", "keep the fields of one type: chart and version for Helm, path and tag for Kustomize"}
	Tie                = Rule{"tie", Warning, "two overlays that are equally specific and not based on each other set one value differently: their names decide", "make one the base of the other, or set the value in one of them only"}
	ProfileConflict    = Rule{"profile-conflict", Error, "two overlays of one recipe declare different profiles", "keep one profile in a recipe"}

	recipeRules = []Rule{UnknownDependency, DependencyCycle, DisabledDependency, MixinConflict, Unpinned, Shape, Tie, ProfileConflict}
)

// What works, and is likely not what was meant.
var (
	FileName        = Rule{"file-name", Warning, "the file's name is not metadata.name", "rename the file, so that people find the overlay"}
	CriteriaValue   = Rule{"criteria-value", Warning, "a criteria value that is not known, and close to one that is", "correct the value; nothing will ask for this one"}
	SameCriteria    = Rule{"same-criteria", Note, "two overlays have the same criteria: both apply, in the order of their names", "merge the two, unless both are wanted"}
	UnusedFile      = Rule{"unused-file", Note, "a values or manifest file that nothing refers to", "remove the file, or refer to it"}
	UnusedMixin     = Rule{"unused-mixin", Note, "a mixin that no overlay uses", "remove the mixin, or use it"}
	UnusedComponent = Rule{"unused-component", Note, "a registry entry that no overlay uses", "remove the entry, or use it"}

	styleRules = []Rule{FileName, CriteriaValue, SameCriteria, UnusedFile, UnusedMixin, UnusedComponent}
)
