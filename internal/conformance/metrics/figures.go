package metrics

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"

	"go.yaml.in/yaml/v3"

	"github.com/firstlight/firstlight/internal/profile"
)

//go:embed figures.yaml
var figuresFile []byte

// metric is a metric of figures.yaml.
type metric struct {
	Name     string `yaml:"name"`
	What     string `yaml:"what"`
	Unit     string `yaml:"unit"`
	Required bool   `yaml:"required"`
	Least    *bound `yaml:"least"`
	Most     *bound `yaml:"most"`
	Rise     *bound `yaml:"rise"`
	Floor    *bound `yaml:"floor"`
	Quiet    *bound `yaml:"quiet"`
}

// bound is a value, or a fraction of a figure of the profile.
type bound struct {
	Value  float64 `yaml:"value"`
	Of     string  `yaml:"of"`
	Scale  float64 `yaml:"scale"`
	Source string  `yaml:"source"`
}

// figures reads figures.yaml, with its bounds resolved for a profile.
func figures(p *profile.Profile) ([]metric, error) {
	var file struct {
		Metrics []metric `yaml:"metrics"`
	}
	dec := yaml.NewDecoder(bytes.NewReader(figuresFile))
	dec.KnownFields(true)
	if err := dec.Decode(&file); err != nil {
		return nil, fmt.Errorf("read figures.yaml: %w", err)
	}
	var problems []error
	for i := range file.Metrics {
		m := &file.Metrics[i]
		if m.Required && (m.Least == nil || m.Most == nil || m.Rise == nil) {
			problems = append(problems, fmt.Errorf("required metric %s has no least, most or rise", m.Name))
		}
		for _, b := range []*bound{m.Least, m.Most, m.Rise, m.Floor, m.Quiet} {
			if b != nil {
				problems = append(problems, b.resolve(m.Name, p))
			}
		}
	}
	return file.Metrics, errors.Join(problems...)
}

// resolve replaces a fraction of a figure of the profile by its value.
func (b *bound) resolve(name string, p *profile.Profile) error {
	if b.Source == "" {
		return fmt.Errorf("metric %s: missing source of a bound", name)
	}
	of, known := map[string]profile.Figure{"": {}, "memory": p.GPU.Memory, "tdp": p.GPU.TDP, "minUtilUnderLoad": p.Telemetry.MinUtilUnderLoad}[b.Of]
	switch {
	case !known:
		return fmt.Errorf("metric %s: unknown figure %q of a profile", name, b.Of)
	case b.Of != "" && b.Scale == 0:
		b.Value = of.Value
	case b.Of != "":
		b.Value = of.Value * b.Scale
	}
	return nil
}
