package detect

import (
	"bytes"
	_ "embed" // the names
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"
	corev1 "k8s.io/api/core/v1"
)

//go:embed known.yaml
var knownFile []byte

// names are the names by which things of a cluster are known.
type names struct {
	Clouds []struct {
		ProviderID string `yaml:"providerID"`
		Name       string `yaml:"name"`
		Source     string `yaml:"source"`
	} `yaml:"clouds"`
	Ports []struct {
		Resource string `yaml:"resource"`
		Kind     string `yaml:"kind"` // empty where the name does not tell it
		Source   string `yaml:"source"`
		form     *regexp.Regexp
	} `yaml:"ports"`
	FabricLabels []struct {
		Label  string `yaml:"label"`
		Value  string `yaml:"value"`
		Kind   string `yaml:"kind"`
		Source string `yaml:"source"`
	} `yaml:"fabricLabels"`
	GPULabel     labelName `yaml:"gpuLabel"`
	AdapterLabel labelName `yaml:"adapterLabel"`
	StateTaints  []struct {
		Key    string `yaml:"key"`
		Source string `yaml:"source"`
	} `yaml:"stateTaints"`
	DevicePlugins []struct {
		Name         string `yaml:"name"`
		Distribution string `yaml:"distribution"` // empty: any
		What         string `yaml:"what"`
		Source       string `yaml:"source"`
	} `yaml:"devicePlugins"`
	Without []struct {
		Name   string `yaml:"name"`
		Source string `yaml:"source"`
	} `yaml:"without"`
	Operands         []string `yaml:"operands"`
	VersionedDrivers []string `yaml:"versionedDrivers"`
}

// labelName is a regular expression of keys of labels.
type labelName struct {
	Key    string `yaml:"key"`
	Source string `yaml:"source"`
	form   *regexp.Regexp
}

// on is the first label of a node whose key fits and whose value is true; empty if none.
func (l labelName) on(labels map[string]string) string {
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		if l.form.MatchString(key) && labels[key] == "true" {
			return key
		}
	}
	return ""
}

func matches(pattern, name string) bool {
	ok, err := path.Match(pattern, name)
	return ok && err == nil
}

// ofState reports whether a taint is that of a node's state, not of its pool.
func (k names) ofState(t corev1.Taint) bool {
	for _, s := range k.StateTaints {
		if matches(s.Key, t.Key) {
			return true
		}
	}
	return false
}

var known = sync.OnceValues(func() (names, error) {
	var k names
	dec := yaml.NewDecoder(bytes.NewReader(knownFile))
	dec.KnownFields(true)
	if err := dec.Decode(&k); err != nil {
		return k, fmt.Errorf("read known.yaml: %w", err)
	}
	for i := range k.Ports {
		form, err := regexp.Compile(k.Ports[i].Resource)
		if err != nil {
			return k, fmt.Errorf("read known.yaml: %w", err)
		}
		k.Ports[i].form = form
	}
	for _, l := range []*labelName{&k.GPULabel, &k.AdapterLabel} {
		form, err := regexp.Compile(l.Key)
		if err != nil {
			return k, fmt.Errorf("read known.yaml: %w", err)
		}
		l.form = form
	}
	return k, nil
})

// port tells that an extended resource is a port of a fabric, with its kind if the name tells it.
func (k names) port(resource string) (kind string, ok bool) {
	for _, p := range k.Ports {
		if p.form.MatchString(resource) && !strings.HasSuffix(resource, ".IP") {
			return p.Kind, true
		}
	}
	return "", false
}
