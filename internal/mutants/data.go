package mutants

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"slices"
	"time"

	"go.yaml.in/yaml/v3"
)

// Targets is targets.yaml: the mutated files and the required score.
type Targets struct {
	// Threshold is the least share of mutants that tests must kill, 0 to 1.
	Threshold float64 `yaml:"threshold"`
	// Sample is how many mutants are run unless asked otherwise.
	Sample int `yaml:"sample"`
	// Limit is the time limit of one run: Times the time without a mutant, at least Least.
	Limit struct {
		Times float64       `yaml:"times"`
		Least time.Duration `yaml:"least"`
	} `yaml:"limit"`
	Targets []Target `yaml:"targets"`
}

// Target is a package whose tests are measured.
type Target struct {
	// Package is its directory in the module, "./internal/check".
	Package string `yaml:"package"`
	// Files are patterns of the files that judge; empty: all files. Except are left out.
	Files  []string `yaml:"files"`
	Except []string `yaml:"except"`
	// Tests are further packages whose tests hold it.
	Tests []string `yaml:"tests"`
	// Why says what the files decide.
	Why string `yaml:"why"`

	// only is the file that is measured; empty for all.
	only string
}

// of is the target for its name, or for one of its files: "./internal/check/verdict.go".
func (t Target) of(name string) (Target, bool) {
	if t.Package == name {
		return t, true
	}
	file := path.Base(name)
	if path.Ext(file) != ".go" || path.Dir(name) != path.Clean(t.Package) || !t.has(file) {
		return t, false
	}
	t.Files, t.Except, t.only = []string{file}, nil, file
	return t, true
}

func (t Target) has(file string) bool {
	match := func(pattern string) bool { return matches(pattern, file) }
	return (len(t.Files) == 0 || slices.ContainsFunc(t.Files, match)) && !slices.ContainsFunc(t.Except, match)
}

// unmatched is the first pattern that matches none of the files; "" without one.
func (t Target) unmatched(files []string) string {
	for _, pattern := range slices.Concat(t.Files, t.Except) {
		if !slices.ContainsFunc(files, func(file string) bool { return matches(pattern, file) }) {
			return pattern
		}
	}
	return ""
}

func matches(pattern, file string) bool {
	ok, err := path.Match(pattern, file)
	return ok && err == nil
}

// Equivalent is a row of equivalent.yaml: mutants that no test can kill.
type Equivalent struct {
	// File is the file in the module, "internal/check/verdict.go".
	File     string   `yaml:"file"`
	Func     string   `yaml:"func"`
	Operator Operator `yaml:"operator"`
	Snippet  string   `yaml:"snippet"`
	// Why says why it changes no outcome.
	Why string `yaml:"why"`
}

func (e Equivalent) matches(m Mutant, target Target) bool {
	return e.File == path.Join(target.Package, m.File) && e.Func == m.Func && e.Operator == m.Operator && e.Snippet == m.Snippet
}

// ReadTargets reads targets.yaml.
func ReadTargets(file string) (Targets, error) {
	var t Targets
	if err := readYAML(file, &t); err != nil {
		return t, err
	}
	if t.Threshold <= 0 || t.Threshold > 1 || t.Limit.Times < 1 || t.Limit.Least <= 0 || t.Sample <= 0 || len(t.Targets) == 0 {
		return t, fmt.Errorf("%s: threshold must be in (0, 1], limit.times at least 1, limit.least and sample positive, and targets not empty", file)
	}
	for _, target := range t.Targets {
		if target.Package == "" || target.Why == "" {
			return t, fmt.Errorf("%s: target %q: package and why must not be empty", file, target.Package)
		}
	}
	return t, nil
}

// ReadEquivalent reads equivalent.yaml.
func ReadEquivalent(file string) ([]Equivalent, error) {
	var all []Equivalent
	if err := readYAML(file, &all); err != nil {
		return nil, err
	}
	for _, e := range all {
		if e.File == "" || e.Func == "" || e.Operator == "" || e.Snippet == "" || e.Why == "" {
			return nil, fmt.Errorf("%s: %s %s %q: no key may be empty", file, e.File, e.Operator, e.Snippet)
		}
	}
	return all, nil
}

func readYAML(file string, into any) error {
	data, err := os.ReadFile(file)
	if err != nil {
		return fmt.Errorf("read %s: %w", file, err)
	}
	dec := yaml.NewDecoder(bytes.NewReader(data))
	dec.KnownFields(true)
	if err := dec.Decode(into); err != nil && !errors.Is(err, io.EOF) { // a file of comments
		return fmt.Errorf("read %s: %w", file, err)
	}
	return nil
}
