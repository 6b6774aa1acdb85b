package distribution

import (
	"bytes"
	_ "embed" // the distributions
	"fmt"
	"regexp"
	"sync"

	"go.yaml.in/yaml/v3"
)

//go:embed distributions.yaml
var file []byte

// Distribution is a row of distributions.yaml. Blocks that are zero have no difference that matters here.
type Distribution struct {
	Name string `yaml:"name"`
	// Spine of the site file; empty: kubernetes.
	Spine      string     `yaml:"spine"`
	Marks      Marks      `yaml:"marks"`
	Logs       Logs       `yaml:"logs"`
	Paths      Paths      `yaml:"paths"`
	Containerd Containerd `yaml:"containerd"`
	Skew       Skew       `yaml:"skew"`
	Packaged   Packaged   `yaml:"packaged"`
}

// Marks are what a node of the distribution shows: one of the four.
type Marks struct {
	Kubelet    string `yaml:"kubelet"`
	OSImage    string `yaml:"osImage"`
	Label      string `yaml:"label"`
	Annotation string `yaml:"annotation"`
	// Example matches the regular expression.
	Example string `yaml:"example"`
	Source  string `yaml:"source"`

	kubelet, osImage *regexp.Regexp
}

// Logs are the commands that show the kubelet's log.
type Logs struct {
	Agent  string `yaml:"agent"`
	Server string `yaml:"server"`
	Source string `yaml:"source"`
}

// Paths of a node; empty: that of Kubernetes, or unknown.
type Paths struct {
	Kubelet    string `yaml:"kubelet"`
	Data       string `yaml:"data"`
	Kubeconfig string `yaml:"kubeconfig"`
	CNIConfig  string `yaml:"cniConfig"`
	CNIBin     string `yaml:"cniBin"`
	Source     string `yaml:"source"`
}

// Skew is a difference from the version skew policy of Kubernetes.
type Skew struct {
	// Older is the number of minor versions; 0: that of Kubernetes.
	Older int `yaml:"older"`
	// ServerNodes: the kubelets of control plane nodes have the versions of the API servers.
	ServerNodes bool   `yaml:"serverNodes"`
	Source      string `yaml:"source"`
}

// Packaged are the components that the distribution installs in kube-system.
type Packaged struct {
	Deployments []string `yaml:"deployments"`
	// Services of kube-system that are load balancers of the distribution's own: DaemonSets with the name and the
	// namespace of a Service as labels.
	Services              []string `yaml:"services"`
	ServiceLabel          string   `yaml:"serviceLabel"`
	ServiceNamespaceLabel string   `yaml:"serviceNamespaceLabel"`
	// Charts are installed by Jobs with the name of a chart as label.
	Charts     []string `yaml:"charts"`
	ChartLabel string   `yaml:"chartLabel"`
	Source     string   `yaml:"source"`
}

var all = sync.OnceValues(func() ([]Distribution, error) {
	var out []Distribution
	dec := yaml.NewDecoder(bytes.NewReader(file))
	dec.KnownFields(true)
	if err := dec.Decode(&out); err != nil {
		return nil, fmt.Errorf("read distributions.yaml: %w", err)
	}
	for i := range out {
		d := &out[i]
		for _, e := range []struct {
			text string
			into **regexp.Regexp
		}{{d.Marks.Kubelet, &d.Marks.kubelet}, {d.Marks.OSImage, &d.Marks.osImage}, {d.Containerd.Embedded, &d.Containerd.embedded}} {
			if e.text == "" {
				continue
			}
			var err error
			if *e.into, err = regexp.Compile(e.text); err != nil {
				return nil, fmt.Errorf("read distributions.yaml: %s: %w", d.Name, err)
			}
		}
	}
	return out, nil
})

// Named returns the distribution with a name.
func Named(name string) (Distribution, error) {
	list, err := all()
	if err != nil {
		return Distribution{}, err
	}
	for _, d := range list {
		if d.Name == name {
			return d, nil
		}
	}
	return Distribution{}, fmt.Errorf("unknown distribution %q", name)
}
