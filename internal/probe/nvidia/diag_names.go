package nvidia

import (
	"bytes"
	_ "embed"
	"fmt"
	"sync"

	"go.yaml.in/yaml/v3"
)

//go:embed diag-tests.yaml
var diagTestsFile []byte

// namedTest is a test with its other names.
type namedTest struct {
	Name string   `yaml:"name"`
	Also []string `yaml:"also"`
	Note string   `yaml:"note"`
}

// diagNames maps each known name to the test's name, by DCGM generation.
var diagNames = sync.OnceValue(func() map[string]map[string]string {
	names, err := readDiagNames(diagTestsFile)
	if err != nil {
		panic(err) // an embedded file, which the tests read
	}
	return names
})

func readDiagNames(data []byte) (map[string]map[string]string, error) {
	var file struct {
		Sources []string    `yaml:"sources"`
		Three   []namedTest `yaml:"3"`
		Four    []namedTest `yaml:"4"`
	}
	dec := yaml.NewDecoder(bytes.NewReader(data))
	dec.KnownFields(true)
	if err := dec.Decode(&file); err != nil {
		return nil, fmt.Errorf("read the names of DCGM's tests: %w", err)
	}
	out := map[string]map[string]string{}
	for generation, tests := range map[string][]namedTest{"3": file.Three, "4": file.Four} {
		names := map[string]string{}
		for _, t := range tests {
			for _, name := range append([]string{t.Name}, t.Also...) {
				if names[name] != "" {
					return nil, fmt.Errorf("test %q of DCGM %s is listed twice", name, generation)
				}
				names[name] = t.Name
			}
		}
		out[generation] = names
	}
	return out, nil
}

// Is reports whether the test has the given name in any release.
func (t DiagTest) Is(name string) bool { return currentName(t.Name) == currentName(name) }

// Known reports whether a DCGM release is known to have the test.
func (t DiagTest) Known() bool {
	for _, names := range diagNames() {
		if names[t.Name] != "" {
			return true
		}
	}
	return false
}

// currentName is a test's name in the latest release that has it.
func currentName(name string) string {
	for _, names := range diagNames() {
		if current := names[name]; current != "" {
			return current
		}
	}
	return name
}
