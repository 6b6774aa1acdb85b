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

// Steps are those of the canonical pipeline.
func Steps() ([]Step, error) {
	steps, err := Load(shipped)
	if err != nil {
		return nil, fmt.Errorf("read the pipeline's steps: %w", err)
	}
	return steps, nil
}

// Load reads steps; the error has everything that is wrong with them.
func Load(data []byte) ([]Step, error) {
	var file struct {
		Steps []Step `yaml:"steps"`
	}
	dec := yaml.NewDecoder(bytes.NewReader(data))
	dec.KnownFields(true)
	if err := dec.Decode(&file); err != nil {
		return nil, err //nolint:wrapcheck // the caller says which file
	}
	var problems []error
	say := func(format string, args ...any) { problems = append(problems, fmt.Errorf(format, args...)) }
	if len(file.Steps) == 0 {
		say("there are no steps")
	}
	seen := map[string]bool{}
	for _, s := range file.Steps {
		if seen[s.Name] {
			say("two steps are called %q", s.Name)
		}
		seen[s.Name] = true
		s.check(file.Steps, say)
	}
	for _, intent := range Intents() {
		if own := Of(file.Steps, intent); len(own) > 0 && circular(own) {
			say("steps of the intent %s need each other in a circle: %s", intent, strings.Join(namesOf(own), ", "))
		}
	}
	return file.Steps, errors.Join(problems...)
}

// check finds what is wrong with one step.
func (s Step) check(all []Step, say func(string, ...any)) {
	if s.Name == "" || s.Title == "" || s.Proves == "" || s.Because == "" {
		say("step %q lacks a name, a title, what it proves, or why it is where it is", s.Name)
	}
	for _, i := range s.For {
		if !slices.Contains(Intents(), i) {
			say("step %s is for the intent %q: there are %v", s.Name, i, Intents())
		}
	}
	for _, need := range s.Needs {
		if !slices.ContainsFunc(all, func(o Step) bool { return o.Name == need }) {
			say("step %s needs %q, which is no step", s.Name, need)
		}
	}
	for _, need := range s.ContinueOnFailure {
		if !slices.Contains(s.Needs, need) {
			say("step %s continues on failure of %q, which it does not need", s.Name, need)
		}
	}
	for _, c := range s.Claims {
		if c.Check == "" || c.GPUs < 1 || c.Through != DRA && c.Through != DevicePlugin {
			say("a claim of step %s has the check %q, %d GPUs, through %q: it takes at least one, through %s or %s", s.Name, c.Check, c.GPUs, c.Through, DRA, DevicePlugin)
		}
	}
}

// circular says whether no order heeds all needs: with GPUs without end none is
// impossible for another reason.
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
