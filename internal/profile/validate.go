package profile

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"
)

// Validate reports every problem: a figure without value, unit or source, a figure that no
// measurement can be compared with, and an empty list, which disables its check.
func (p *Profile) Validate() error {
	var problems []error
	if p.APIVersion != "firstlight/v1" || p.Kind != "Profile" {
		problems = append(problems, fmt.Errorf("apiVersion and kind must be firstlight/v1 and Profile, not %q and %q", p.APIVersion, p.Kind))
	}
	if p.Name == "" {
		problems = append(problems, errors.New("name is missing"))
	}
	zero := p.zero()
	walkFigures(reflect.ValueOf(*p), "", func(path string, f Figure) {
		path = strings.TrimPrefix(path, ".")
		switch {
		case f.Unit == "" || f.Source == "":
			problems = append(problems, fmt.Errorf("%s: a figure needs a value, a unit and a source", path))
		case len(unitsOf(path)) > 0 && !slices.Contains(unitsOf(path), f.Unit):
			problems = append(problems, fmt.Errorf("invalid unit %q of %s: must be %s", f.Unit, path, strings.Join(unitsOf(path), " or ")))
		case math.IsNaN(f.Value) || math.IsInf(f.Value, 0) || f.Value < 0:
			problems = append(problems, fmt.Errorf("invalid %s: %g: must be a positive number", path, f.Value))
		case f.Value == 0 && !slices.Contains(zero, path):
			problems = append(problems, fmt.Errorf("invalid %s: 0: must be positive, because no measurement can fail it", path))
		}
	})
	for _, b := range p.bounds() {
		if err := b.problem(); err != nil {
			problems = append(problems, err)
		}
	}
	return errors.Join(slices.Concat(problems, p.agreement(), p.lists(), p.absent())...)
}

// units are those of the figures, which every gate computes in: the units of the profiles that
// ship, by path without indices and keys.
var units = sync.OnceValue(func() map[string]string {
	out := map[string]string{}
	for _, name := range Names() {
		var p Profile
		data, err := Raw(name)
		if err != nil || yaml.Unmarshal(data, &p) != nil {
			continue
		}
		walkFigures(reflect.ValueOf(p), "", func(path string, f Figure) { out[unitKey(strings.TrimPrefix(path, "."))] = f.Unit })
	}
	return out
})

// index matches an index or a key in a path.
var index = regexp.MustCompile(`\[[^]]*]`)

func unitKey(path string) string { return index.ReplaceAllString(path, "") }

// unitsOf are the units that a figure may have; none for a figure that no shipped profile has.
// The figures of a map are counts.
func unitsOf(path string) []string {
	if strings.HasSuffix(path, "]") {
		return []string{"errors", "events", "packets"}
	}
	if unit, ok := units()[unitKey(path)]; ok {
		return []string{unit}
	}
	return nil
}

// absent reports lists that the profile must have.
func (p *Profile) absent() []error {
	var problems []error
	if len(p.GPU.Products) == 0 {
		problems = append(problems, errors.New("gpu.products is empty"))
	}
	if p.Collectives() && len(p.Collective.Ceilings) == 0 {
		problems = append(problems, errors.New("collective.ceilings is empty"))
	}
	if len(p.Node.RequiredDiagnostics) == 0 {
		problems = append(problems, errors.New("node.requiredDiagnostics is empty"))
	}
	if p.Collective.NVLS && p.Node.NVLinkDomain == nil {
		problems = append(problems, errors.New("node.nvlinkDomain is missing: collective.nvls declares NVSwitches"))
	}
	if p.Subnet() && len(p.Fabric.RequiredStages) == 0 {
		problems = append(problems, errors.New("fabric.requiredStages is empty"))
	}
	return problems
}

func walkFigures(v reflect.Value, path string, visit func(string, Figure)) {
	if f, ok := v.Interface().(Figure); ok {
		visit(path, f)
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
			walkFigures(v.Field(i), path+"."+name, visit)
		}
	case reflect.Pointer:
		if !v.IsNil() {
			walkFigures(v.Elem(), path, visit)
		}
	case reflect.Slice:
		for i := range v.Len() {
			walkFigures(v.Index(i), fmt.Sprintf("%s[%d]", path, i), visit)
		}
	case reflect.Map:
		for _, k := range v.MapKeys() {
			walkFigures(v.MapIndex(k), fmt.Sprintf("%s[%v]", path, k), visit)
		}
	default:
	}
}
