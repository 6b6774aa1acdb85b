package site

import (
	"bytes"
	_ "embed" // the providers
	"fmt"
	"slices"
	"sync"

	"go.yaml.in/yaml/v3"
)

//go:embed data/providers.yaml
var providersFile []byte

// Provider is a cloud that installs GPU drivers and device plugins itself.
type Provider struct {
	Name string `yaml:"name"` // of gpustack.provider
	What string `yaml:"what"`
	// ProviderID is the beginning of spec.providerID of its nodes.
	ProviderID string `yaml:"providerID"`
	// Distribution is the name in distributions.yaml of what its nodes run, where the other properties are also those
	// of machines of the cloud without its Kubernetes.
	Distribution string `yaml:"distribution"`
	// Labels are on each GPU node, Without on none.
	Labels  []ProviderLabel `yaml:"labels"`
	Without []ProviderLabel `yaml:"without"`
	// Conditions of GPU nodes that must be False.
	Conditions []string `yaml:"conditions"`
	// Plugin is the place of the device plugin; nil: it is a part of the node's image.
	Plugin *PluginPlace `yaml:"plugin"`
	// DriverInImage: the node's image has the driver. DriverRemedy is for nodes with a DaemonSet of a driver.
	DriverInImage bool   `yaml:"driverInImage"`
	DriverRemedy  string `yaml:"driverRemedy"`
	Source        string `yaml:"source"`
}

// ProviderLabel is a label of nodes; an empty Value is any value.
type ProviderLabel struct {
	Key    string `yaml:"key"`
	Value  string `yaml:"value"`
	Remedy string `yaml:"remedy"`
}

// On reports whether the labels of a node have it.
func (l ProviderLabel) On(labels map[string]string) bool {
	value, there := labels[l.Key]
	return there && (l.Value == "" || l.Value == value)
}

// String is the label as in a selector.
func (l ProviderLabel) String() string {
	if l.Value == "" {
		return l.Key
	}
	return l.Key + "=" + l.Value
}

// PluginPlace is where a device plugin runs: DaemonSets by patterns (path.Match).
type PluginPlace struct {
	Namespace  string   `yaml:"namespace"`
	DaemonSets []string `yaml:"daemonSets"`
}

// Providers are all known ones.
var Providers = sync.OnceValues(func() ([]Provider, error) {
	var out []Provider
	dec := yaml.NewDecoder(bytes.NewReader(providersFile))
	dec.KnownFields(true)
	if err := dec.Decode(&out); err != nil {
		return nil, fmt.Errorf("read providers.yaml: %w", err)
	}
	return out, nil
})

// ProviderNamed is a known provider; false for another name.
func ProviderNamed(name string) (Provider, bool) {
	all, err := Providers()
	i := slices.IndexFunc(all, func(p Provider) bool { return p.Name == name })
	if err != nil || i < 0 {
		return Provider{}, false
	}
	return all[i], true
}

// setProvider fills in the place of the provider's device plugin.
func (g *GPUStack) setProvider() {
	p, ok := ProviderNamed(g.Provider)
	switch {
	case !ok:
	case p.Plugin == nil && g.Operands == nil:
		g.Operands = []string{}
	case p.Plugin != nil:
		if g.Namespace == "" {
			g.Namespace = p.Plugin.Namespace
		}
		if g.Operands == nil {
			g.Operands = slices.Clone(p.Plugin.DaemonSets)
		}
	}
}

// provider validates gpustack.provider.
func (v *validator) provider(g *GPUStack) {
	if g.Provider == "" {
		return
	}
	all, err := Providers()
	if err != nil {
		v.add("gpustack.provider", "%v", err)
		return
	}
	names := make([]string, 0, len(all))
	for _, p := range all {
		names = append(names, p.Name)
	}
	p, known := ProviderNamed(g.Provider)
	switch {
	case !known:
		v.oneOf("gpustack.provider", g.Provider, names)
	case !g.Provided():
		v.add("gpustack.provider", "is of a cloud that installs the device plugin: remove it, or set managedBy: %s", ManagedByProvider)
	case p.Plugin == nil && len(g.Operands) > 0:
		v.add("gpustack.operands", "must be empty with provider %s: the device plugin is a part of the node's image", p.Name)
	case p.Plugin != nil && len(g.Operands) == 0:
		v.add("gpustack.operands", "must name the device plugin's DaemonSets with provider %s; its own are %v in %s", p.Name, p.Plugin.DaemonSets, p.Plugin.Namespace)
	}
}
