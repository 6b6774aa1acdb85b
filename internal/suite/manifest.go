package suite

import (
	"bytes"
	_ "embed" // manifest.yaml
	"fmt"
	"slices"
	"sync"
	"testing"

	"go.yaml.in/yaml/v3"
)

//go:embed manifest.yaml
var manifestFile []byte

// Fault is a fault of the catalogue, what must fail of it, and the test that shows it.
type Fault struct {
	Kind string `yaml:"kind"`
	// Holds is "gate NAME", "hop NAME" or "requirement NAME".
	Holds string `yaml:"holds"`
	// Test is its package, below the module's, and its function.
	Test string `yaml:"test"`
	Runs string `yaml:"runs"`

	level Level
}

// Level is the smallest run that has the test.
func (f Fault) Level() Level { return f.level }

// Faults are all rows of the manifest.
var Faults = sync.OnceValues(func() ([]Fault, error) {
	var m struct {
		Faults []Fault `yaml:"faults"`
	}
	dec := yaml.NewDecoder(bytes.NewReader(manifestFile))
	dec.KnownFields(true)
	if err := dec.Decode(&m); err != nil {
		return nil, fmt.Errorf("read manifest of tests: %w", err)
	}
	for i := range m.Faults {
		f := &m.Faults[i]
		var err error
		if f.level, err = ParseLevel(f.Runs); err != nil || f.Runs == "" {
			return nil, fmt.Errorf("read manifest of tests: fault %s: invalid runs %q", f.Kind, f.Runs)
		}
	}
	return m.Faults, nil
})

// HasFault reports whether the manifest gives a fault to a test.
func HasFault(tb testing.TB, test, kind string) bool {
	tb.Helper()
	all, err := Faults()
	if err != nil {
		tb.Fatal(err)
	}
	return slices.ContainsFunc(all, func(f Fault) bool { return f.Kind == kind && f.Test == test })
}

// RequireFault skips a test of a fault where this run has less than the manifest says. A
// fault that the manifest does not give to this test fails it.
func RequireFault(tb testing.TB, test, kind string) {
	tb.Helper()
	all, err := Faults()
	if err != nil {
		tb.Fatal(err)
	}
	i := slices.IndexFunc(all, func(f Fault) bool { return f.Kind == kind && f.Test == test })
	if i < 0 {
		tb.Fatalf("internal/suite/manifest.yaml does not give fault %s to %s", kind, test)
	}
	Require(tb, all[i].level)
}
