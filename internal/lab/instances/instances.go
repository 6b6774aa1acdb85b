package instances

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	_ "embed" // the types

	"go.yaml.in/yaml/v3"
)

//go:embed types.yaml
var data []byte

type (
	// Value is a value with its source.
	Value[T any] struct {
		Value  T      `yaml:"value"`
		Source string `yaml:"source"`
	}
	// Number is a figure with its unit and source.
	Number struct {
		Value  float64 `yaml:"value"`
		Unit   string  `yaml:"unit"`
		Source string  `yaml:"source"`
	}
)

// Type is an instance type with GPUs.
type Type struct {
	Name         string          `yaml:"name"`
	Architecture Value[string]   `yaml:"architecture"` // as in Kubernetes: amd64, arm64
	GPU          Value[string]   `yaml:"gpu"`          // as in nvidia-smi
	GPUs         Number          `yaml:"gpus"`
	CPU          Number          `yaml:"cpu"`    // vCPU
	Memory       Number          `yaml:"memory"` // GiB
	Zones        Value[[]string] `yaml:"zones"`
	OnDemand     Number          `yaml:"onDemand"` // USD/h
}

// Load returns the types in file order.
func Load() ([]Type, error) { return parse(data) }

func parse(raw []byte) ([]Type, error) {
	var file struct {
		Types []Type `yaml:"types"`
	}
	dec := yaml.NewDecoder(bytes.NewReader(raw))
	dec.KnownFields(true)
	if err := dec.Decode(&file); err != nil {
		return nil, fmt.Errorf("read instance types: %w", err)
	}
	if len(file.Types) == 0 {
		return nil, errors.New("read instance types: no types")
	}
	names := map[string]bool{}
	for _, t := range file.Types {
		if names[t.Name] {
			return nil, fmt.Errorf("read instance types: duplicate type %s", t.Name)
		}
		names[t.Name] = true
		if err := t.validate(); err != nil {
			return nil, fmt.Errorf("read instance type %q: %w", t.Name, err)
		}
	}
	return file.Types, nil
}

// validate rejects what no NodePool can select and figures without a source.
func (t Type) validate() error {
	if t.Name == "" {
		return errors.New("no name")
	}
	if !slices.Contains([]string{"amd64", "arm64"}, t.Architecture.Value) {
		return fmt.Errorf("invalid architecture %q: must be amd64 or arm64", t.Architecture.Value)
	}
	if len(t.Zones.Value) == 0 || slices.Contains(t.Zones.Value, "") {
		return fmt.Errorf("invalid zones %q: an offering without a zone is never selected", t.Zones.Value)
	}
	if t.GPU.Value == "" {
		return errors.New("no GPU")
	}
	for _, v := range []struct{ name, source string }{
		{"architecture", t.Architecture.Source}, {"gpu", t.GPU.Source}, {"zones", t.Zones.Source},
	} {
		if v.source == "" {
			return fmt.Errorf("%s has no source", v.name)
		}
	}
	return t.validateNumbers()
}

func (t Type) validateNumbers() error {
	numbers := []struct {
		name, unit string
		Number
		whole bool
	}{
		{"gpus", "GPUs", t.GPUs, true}, {"cpu", "vCPU", t.CPU, true}, {"memory", "GiB", t.Memory, true},
		{"onDemand", "USD/h", t.OnDemand, false},
	}
	for _, n := range numbers {
		if n.Value <= 0 || n.whole && n.Value != float64(int(n.Value)) {
			return fmt.Errorf("invalid %s %g: must be a positive number", n.name, n.Value)
		}
		if n.Unit != n.unit {
			return fmt.Errorf("invalid unit of %s %q: must be %s", n.name, n.Unit, n.unit)
		}
		if n.Source == "" {
			return fmt.Errorf("%s has no source", n.name)
		}
	}
	return nil
}
