package inference

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/labels"
)

//go:embed figures.yaml
var figuresFile []byte

// figures are the requests that the check sends, and the limits of their answers.
type figures struct {
	Weights      []int   `yaml:"weights"`
	Requests     int     `yaml:"requests"`
	Alpha        float64 `yaml:"alpha"`
	Repeats      int     `yaml:"repeats"`
	Header       string  `yaml:"header"`
	ListenerPort int32   `yaml:"listenerPort"`
	Model        string  `yaml:"model"`
	MaxModelLen  int     `yaml:"maxModelLen"`
	// Terminal are reasons of a Gateway's conditions that do not change by waiting.
	Terminal   []string    `yaml:"terminal"`
	DataPlanes []dataPlane `yaml:"dataPlanes"`
}

// dataPlane is an implementation's labels of the pods of a Gateway.
type dataPlane struct {
	Source     string            `yaml:"source"`
	Everywhere bool              `yaml:"everywhere"`
	Labels     map[string]string `yaml:"labels"`
}

func (d dataPlane) selector(namespace, name string) string {
	set := labels.Set{}
	fill := strings.NewReplacer("{name}", name, "{namespace}", namespace)
	for k, v := range d.Labels {
		set[k] = fill.Replace(v)
	}
	return set.String()
}

func readFigures(raw []byte) (figures, error) {
	var f figures
	dec := yaml.NewDecoder(bytes.NewReader(raw))
	dec.KnownFields(true)
	if err := dec.Decode(&f); err != nil {
		return f, fmt.Errorf("read figures.yaml: %w", err)
	}
	var problems []error
	if len(f.Weights) != 2 || f.Weights[0] < 1 || f.Weights[1] < 1 || f.Weights[0] == f.Weights[1] {
		problems = append(problems, fmt.Errorf("invalid weights %v: must be two different numbers above 0", f.Weights))
	}
	if f.Requests < 1 || f.Repeats < 1 || f.MaxModelLen < 1 || f.ListenerPort < 1 {
		problems = append(problems, errors.New("invalid requests, repeats, maxModelLen or listenerPort: must be above 0"))
	}
	if !(f.Alpha > 0 && f.Alpha < 0.1) {
		problems = append(problems, fmt.Errorf("invalid alpha %g: must be above 0 and below 0.1", f.Alpha))
	}
	if f.Header == "" || f.Model == "" {
		problems = append(problems, errors.New("header and model are required"))
	}
	if err := errors.Join(problems...); err != nil {
		return f, fmt.Errorf("figures.yaml: %w", err)
	}
	return f, nil
}

// share is the fraction of the requests for the first backend.
func (f figures) share() float64 {
	return float64(f.Weights[0]) / float64(f.Weights[0]+f.Weights[1])
}
