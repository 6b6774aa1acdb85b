package profile

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"
)

// Instance is a machine type of a cloud.
type Instance struct {
	Profile string `yaml:"profile"`
	Source  string `yaml:"source"`
}

// Instances are the machine types with a profile that ships, by the value of the label
// node.kubernetes.io/instance-type.
var Instances = sync.OnceValues(func() (map[string]Instance, error) {
	raw, err := data.ReadFile("data/instances.yaml")
	if err != nil {
		return nil, fmt.Errorf("read machine types: %w", err)
	}
	var out map[string]Instance
	dec := yaml.NewDecoder(bytes.NewReader(raw))
	dec.KnownFields(true)
	if err := dec.Decode(&out); err != nil {
		return nil, fmt.Errorf("read machine types: %w", err)
	}
	return out, nil
})

// Product is a GPU's name as labels of Kubernetes have it: GPU feature discovery writes dashes
// for spaces, and drivers before 470 omit NVIDIA.
func Product(name string) string {
	return strings.TrimPrefix(strings.ReplaceAll(name, " ", "-"), "NVIDIA-")
}

// shipped are the profiles that ship, for reading only.
var shipped = sync.OnceValues(func() ([]*Profile, error) {
	var out []*Profile
	for _, name := range names() {
		p, err := Load(name)
		if err != nil {
			return nil, err
		}
		out = append(out, p)
	}
	return out, nil
})

// Matching lists the shipped profiles of nodes with this many GPUs of a product, by the name that
// nvidia-smi prints or a label has. They are shared: callers must not change them.
func Matching(product string, gpus int) ([]*Profile, error) {
	all, err := shipped()
	if err != nil {
		return nil, err
	}
	var out []*Profile
	for _, p := range all {
		same := func(of string) bool { return Product(of) == Product(product) }
		if slices.ContainsFunc(p.GPU.Products, same) && int(p.Node.GPUs.Value) == gpus {
			out = append(out, p)
		}
	}
	return out, nil
}
