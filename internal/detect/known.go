package detect

import (
	"bytes"
	_ "embed" // the names
	"fmt"
	"regexp"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"
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
	DevicePlugins []struct {
		Name   string `yaml:"name"`
		What   string `yaml:"what"`
		Source string `yaml:"source"`
	} `yaml:"devicePlugins"`
	Operands []string `yaml:"operands"`
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
