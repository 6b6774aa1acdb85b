package tree

import (
	"io/fs"
	"path"
	"slices"
	"strconv"

	"github.com/firstlight/firstlight/internal/diag"
	"github.com/firstlight/firstlight/internal/recipe/constraint"
	"github.com/firstlight/firstlight/internal/recipe/model"
	"github.com/firstlight/firstlight/internal/recipe/rule"
)

func emptyBase() *Overlay { return &Overlay{Overlay: &model.Overlay{}} }

// references checks the references between files.
func (t *Tree) references() diag.List {
	var problems diag.List
	all := append([]*Overlay{t.Base}, t.Overlays...)
	for _, o := range all {
		c := checker{t: t, file: o.File, at: []string{"spec"}}
		c.mixins(o.Spec.Mixins)
		c.constraints(o.Spec.Constraints, "constraints")
		c.components(o.Spec.ComponentRefs)
		c.validation(o.Spec.Validation)
		problems = append(problems, c.problems...)
	}
	for _, m := range t.Mixins {
		c := checker{t: t, file: m.File, at: []string{"spec"}}
		c.constraints(m.Spec.Constraints, "constraints")
		c.components(m.Spec.ComponentRefs)
		problems = append(problems, c.problems...)
	}
	c := checker{t: t, file: registryFile}
	for _, comp := range t.Components {
		i := strconv.Itoa(comp.Index)
		c.filesAt(comp.ManifestFiles, "components", i, "manifestFiles")
		if comp.HealthCheck != nil && comp.HealthCheck.AssertFile != "" {
			c.fileAt(comp.HealthCheck.AssertFile, "components", i, "healthCheck", "assertFile")
		}
	}
	return append(problems, c.problems...)
}

// checker collects problems of one file; at is the prefix of all paths.
type checker struct {
	t        *Tree
	file     string
	at       []string
	problems diag.List
}

func (c *checker) add(r diag.Rule, keys []string, format string, args ...any) {
	c.problems = append(c.problems, r.At(c.t.ValuePos(c.file, append(slices.Clone(c.at), keys...)...), format, args...))
}

func (c *checker) mixins(names []string) {
	for i, name := range names {
		at := []string{"mixins", strconv.Itoa(i)}
		if slices.Index(names, name) < i {
			c.add(rule.DuplicateEntry, at, "duplicate mixin %s", name)
		}
		if _, ok := c.t.Mixins[name]; !ok && name != "" {
			c.add(rule.UnknownMixin, at, "mixin %s not found", name)
		}
	}
}

func (c *checker) constraints(list []model.Constraint, keys ...string) {
	seen := map[string]bool{}
	for i, con := range list {
		at := append(slices.Clone(keys), strconv.Itoa(i))
		if seen[con.Name] {
			c.add(rule.DuplicateEntry, append(at, "name"), "duplicate constraint %s", con.Name)
		}
		seen[con.Name] = true
		if con.Value == "" {
			continue
		}
		if _, err := constraint.Parse(con.Value); err != nil {
			c.add(rule.ConstraintSyntax, append(at, "value"), "constraint %s: %s", con.Name, err)
		}
	}
}

func (c *checker) validation(v *model.Validation) {
	if v == nil {
		return
	}
	for _, name := range model.PhaseNames() {
		if phase := *v.Phase(name); phase != nil {
			c.constraints(phase.Constraints, "validation", name, "constraints")
		}
	}
}

func (c *checker) components(refs []model.ComponentRef) {
	seen := map[string]bool{}
	for i := range refs {
		ref := &refs[i]
		at := []string{"componentRefs", strconv.Itoa(i)}
		if seen[ref.Name] {
			c.add(rule.DuplicateEntry, append(at, "name"), "duplicate component %s", ref.Name)
		}
		seen[ref.Name] = true
		for _, gate := range model.Gates() {
			if v, ok := ref.Overrides[gate]; ok {
				if _, isBool := v.(bool); !isBool {
					c.add(rule.EnabledType, append(at, "overrides", gate), "invalid overrides.%s of %s: must be true or false", gate, ref.Name)
				}
			}
		}
		if ref.ValuesFile != "" && c.fileAt(ref.ValuesFile, append(at, "valuesFile")...) {
			c.values(ref, append(at, "valuesFile"))
		}
		c.filesAt(ref.ManifestFiles, append(at, "manifestFiles")...)
		c.filesAt(ref.PreManifestFiles, append(at, "preManifestFiles")...)
		c.filesAt(ref.Patches, append(at, "patches")...)
	}
}

// values reads the values files of a component.
func (c *checker) values(ref *model.ComponentRef, at []string) {
	for _, file := range c.t.ValuesFiles(ref) {
		_, problems := c.t.Values(file)
		c.problems = append(c.problems, problems...)
		if problems.Err() != nil {
			c.add(rule.ValuesFile, at, "cannot read the values of %s: %s", ref.Name, c.t.Name(file))
		}
	}
}

// ValuesFiles returns the values files of a component, lowest precedence first.
func (t *Tree) ValuesFiles(ref *model.ComponentRef) []string {
	if ref.ValuesFile == "" {
		return nil
	}
	own := path.Clean(ref.ValuesFile)
	base := "components/" + ref.Name + "/values.yaml"
	if own == base || !fs.ValidPath(base) || !t.Exists(base) {
		return []string{own}
	}
	return []string{base, own}
}

func (c *checker) filesAt(files []string, keys ...string) {
	for i, f := range files {
		c.fileAt(f, append(slices.Clone(keys), strconv.Itoa(i))...)
	}
}

// fileAt checks one path and reports whether the file is readable.
func (c *checker) fileAt(file string, keys ...string) bool {
	clean := path.Clean(file)
	switch {
	case file == "":
		c.add(diag.Missing, keys, "empty path")
		return false
	case !fs.ValidPath(clean) || path.IsAbs(file):
		c.add(rule.OutsideFile, keys, "invalid path %s: must be inside the recipe tree", file)
		return false
	}
	if _, err := c.t.Read(clean); err != nil {
		c.add(rule.MissingFile, keys, "cannot read %s: %s", file, err)
		return false
	}
	return true
}
