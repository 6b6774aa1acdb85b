package main

import (
	"bytes"
	_ "embed" // the policy
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/google/licensecheck"
	"go.yaml.in/yaml/v3"
)

//go:embed policy.yaml
var policyFile []byte

// policy is policy.yaml.
type policy struct {
	Allowed    []allowed   `yaml:"allowed"`
	Exceptions []exception `yaml:"exceptions"`
}

// allowed is a licence, by its SPDX identifier, that what is linked may have.
type allowed struct {
	ID      string `yaml:"id"`
	Because string `yaml:"because"`
}

// exception is a licence file of content that is not linked.
type exception struct {
	Module  string `yaml:"module"`
	File    string `yaml:"file"`
	Because string `yaml:"because"`
}

func loadPolicy() (policy, error) {
	var p policy
	dec := yaml.NewDecoder(bytes.NewReader(policyFile))
	dec.KnownFields(true)
	if err := dec.Decode(&p); err != nil {
		return p, fmt.Errorf("read policy.yaml: %w", err)
	}
	return p, nil
}

func (p policy) excepts(module, file string) bool {
	return slices.ContainsFunc(p.Exceptions, func(e exception) bool { return e.Module == module && e.File == file })
}

func (p policy) allows(id string) bool {
	return slices.ContainsFunc(p.Allowed, func(a allowed) bool { return a.ID == id })
}

// known is the minimum share of a text that must match licences, in percent; a text below it has
// other content. It is the limit of pkg.go.dev.
const known = 75

// judge recognises the licences of a module's files, in the order of their names, each once. The
// error says what is not allowed.
func (p policy) judge(module string, files map[string][]byte) ([]string, error) {
	if len(files) == 0 {
		return nil, errors.New("no licence file")
	}
	var ids []string
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if p.excepts(module, name) {
			continue
		}
		found := licensecheck.Scan(files[name])
		if found.Percent < known {
			errs = append(errs, fmt.Errorf("%s is not recognised: %.0f %% of it is of a known licence", name, found.Percent))
		}
		for _, m := range found.Match {
			if slices.Contains(ids, m.ID) {
				continue
			}
			ids = append(ids, m.ID)
			if !p.allows(m.ID) {
				errs = append(errs, fmt.Errorf("%s: licence %s is not allowed", name, m.ID))
			}
		}
	}
	return ids, errors.Join(errs...)
}
