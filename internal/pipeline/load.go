package pipeline

import (
	"bytes"
	_ "embed" // the steps
	"errors"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

//go:embed steps.yaml
var shipped []byte

// Steps returns the steps of the canonical pipeline.
func Steps() ([]Step, error) {
	steps, err := Load(shipped)
	if err != nil {
		return nil, fmt.Errorf("cannot read steps.yaml: %w", err)
	}
	return steps, nil
}

// Load reads steps. The error has every problem.
func Load(data []byte) ([]Step, error) {
	var file struct {
		Steps []Step `yaml:"steps"`
	}
	dec := yaml.NewDecoder(bytes.NewReader(data))
	dec.KnownFields(true)
	if err := dec.Decode(&file); err != nil {
		return nil, err
	}
	var problems []error
	add := func(format string, args ...any) { problems = append(problems, fmt.Errorf(format, args...)) }
	if len(file.Steps) == 0 {
		add("no steps found")
	}
	seen := map[string]bool{}
	for _, s := range file.Steps {
		if seen[s.Name] {
			add("duplicate step %q", s.Name)
		}
		seen[s.Name] = true
		s.check(file.Steps, add)
	}
	for _, intent := range Intents() {
		if own := Of(file.Steps, intent); len(own) > 0 && circular(own) {
			add("steps of the intent %s have circular needs: %s", intent, strings.Join(namesOf(own), ", "))
		}
	}
	return file.Steps, errors.Join(problems...)
}

func (s Step) check(all []Step, add func(string, ...any)) {
	if s.Name == "" || s.Title == "" || s.Proves == "" || s.Because == "" {
		add("invalid step %q: must have name, title, proves and because", s.Name)
	}
	for _, i := range s.For {
		if !slices.Contains(Intents(), i) {
			add("step %s: unknown intent %q: want one of %v", s.Name, i, Intents())
		}
	}
	for _, need := range s.Needs {
		if !slices.ContainsFunc(all, func(o Step) bool { return o.Name == need }) {
			add("step %s needs %q: step not found", s.Name, need)
		}
	}
	for _, need := range s.ContinueOnFailure {
		if !slices.Contains(s.Needs, need) {
			add("step %s continues on failure of %q, which it does not need", s.Name, need)
		}
	}
	for _, c := range s.Claims {
		if c.Check == "" || c.GPUs < 1 || c.Through != DRA && c.Through != DevicePlugin {
			add("invalid claim of step %s: check %q, %d GPUs, through %q: must have a check and at least 1 GPU, through %s or %s", s.Name, c.Check, c.GPUs, c.Through, DRA, DevicePlugin)
		}
	}
}

// circular reports whether no order satisfies all needs. It assumes enough GPUs, so that no
// claim makes an order impossible.
func circular(own []Step) bool {
	total := 0
	for _, s := range own {
		for _, c := range s.Claims {
			total += max(0, c.GPUs)
		}
	}
	whole, _ := search(nil, own, total)
	return whole == nil
}
