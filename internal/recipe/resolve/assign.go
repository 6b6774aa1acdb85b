package resolve

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/firstlight/firstlight/internal/recipe/model"
	"github.com/firstlight/firstlight/internal/recipe/query"
	"github.com/firstlight/firstlight/internal/yamlstrict"
)

// Assignment is a value set on the command line.
type Assignment struct {
	// Component is a name, or one of the component's valueOverrideKeys in the registry.
	Component string
	Path      query.Path
	Value     any
}

// ParseAssignment parses component:path=value; the value is YAML.
func ParseAssignment(text string) (Assignment, error) {
	component, rest, ok := strings.Cut(text, ":")
	path, value, assigned := strings.Cut(rest, "=")
	if !ok || !assigned || component == "" || path == "" {
		return Assignment{}, fmt.Errorf("invalid assignment %q: must be component:path=value, for example gpu-operator:driver.enabled=false", text)
	}
	p, err := query.Parse(path)
	if err != nil {
		return Assignment{}, err
	}
	a := Assignment{Component: component, Path: p, Value: value}
	if value != "" {
		doc, problems := yamlstrict.Parse("value", []byte(value))
		if doc == nil {
			return Assignment{}, fmt.Errorf("invalid assignment %q: %w", text, errors.New(problems[0].Message))
		}
		if a.Value, problems = doc.Value(); len(problems) > 0 {
			return Assignment{}, fmt.Errorf("invalid assignment %q: %w", text, errors.New(problems[0].Message))
		}
	}
	return a, nil
}

// block returns the assignment as nested mappings.
func (a Assignment) block() map[string]any {
	v := clone(a.Value)
	for _, key := range slices.Backward(a.Path) {
		v = map[string]any{key: v}
	}
	out, _ := v.(map[string]any) // the path is not empty
	return out
}

// assign merges the assignments over the overrides.
func (d *draft) assign(set []Assignment) error {
	for _, s := range set {
		c, err := d.named(s.Component)
		if err != nil {
			return err
		}
		if _, truth := s.Value.(bool); !truth && len(s.Path) == 1 && slices.Contains(model.Gates(), s.Path[0]) {
			return fmt.Errorf("invalid value for %s of %s: must be true or false, not %v", s.Path, c.Name, s.Value)
		}
		if c.Overrides == nil {
			c.Overrides = map[string]any{}
		}
		d.trace.mergeValues(c.Overrides, s.block(), layer{name: "--set"}, d.at("components", c.Name, "values"), nil)
	}
	return nil
}

// named returns a component by its name or an alternative name from the registry.
func (d *draft) named(name string) (*model.ComponentRef, error) {
	if c, ok := d.components[name]; ok {
		return c, nil
	}
	names := slices.Sorted(maps.Keys(d.components))
	for _, n := range names {
		if entry, ok := d.tree.Components[n]; ok && slices.Contains(entry.ValueOverrideKeys, name) {
			return d.components[n], nil
		}
	}
	return nil, fmt.Errorf("cannot set a value of %q: the recipe has no such component; want one of %s", name, strings.Join(names, ", "))
}
