package world

import (
	"bytes"
	_ "embed"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

//go:embed os.yaml
var osYAML []byte

// OS is the operating system of a host.
type OS struct {
	ID         string `yaml:"id"`
	VersionID  string `yaml:"versionID"`
	Name       string `yaml:"name"`
	PrettyName string `yaml:"prettyName"`
	Kernel     string `yaml:"kernel"` // uname -r
}

// Release is the content of /etc/os-release. Values that a shell would split are quoted.
func (o OS) Release() string {
	return fmt.Sprintf("NAME=%q\nVERSION_ID=%q\nID=%s\nPRETTY_NAME=%q\n", o.Name, o.VersionID, o.ID, o.PrettyName)
}

// forbidden are the characters of a kernel's release that a label cannot have.
var forbidden = regexp.MustCompile(`[^-A-Za-z0-9_.]`)

// KernelLabel is the kernel's release as node feature discovery labels it: Container-Optimized OS
// has "6.6.93+", which a label must not have.
func (o OS) KernelLabel() string {
	return strings.Trim(forbidden.ReplaceAllString(o.Kernel, "_"), "-_.")
}

// osNames returns the names of all operating systems.
func osNames() []string {
	all, err := systems()
	if err != nil {
		return nil
	}
	return slices.Sorted(maps.Keys(all))
}

func loadOS(name string) (OS, error) {
	all, err := systems()
	if err != nil {
		return OS{}, err
	}
	os, ok := all[name]
	if !ok {
		return OS{}, fmt.Errorf("unknown operating system %q: want one of %s", name, strings.Join(slices.Sorted(maps.Keys(all)), ", "))
	}
	return os, nil
}

func systems() (map[string]OS, error) {
	all := map[string]OS{}
	dec := yaml.NewDecoder(bytes.NewReader(osYAML))
	dec.KnownFields(true)
	if err := dec.Decode(&all); err != nil {
		return nil, fmt.Errorf("decode operating systems: %w", err)
	}
	return all, nil
}
