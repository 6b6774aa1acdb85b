package criteria

import (
	"strconv"
	"strings"
)

// Any explicitly leaves a dimension open.
const Any = "any"

// Criteria are the dimensions of a query or an overlay. The zero value leaves all of them open.
type Criteria struct {
	// Service that runs the cluster: eks, gke, aks, oke, kind, generic (self-managed), ...
	Service string `yaml:"service,omitempty" json:"service,omitempty"`
	// Accelerator is the kind of GPU: h100, h200, b200, gb200, a100, l40s, ...
	Accelerator string `yaml:"accelerator,omitempty" json:"accelerator,omitempty"`
	// OS is the operating system of the worker nodes: ubuntu, rhel, cos, amazonlinux, ...
	OS string `yaml:"os,omitempty" json:"os,omitempty"`
	// Intent is the purpose of the cluster: training or inference.
	Intent string `yaml:"intent,omitempty" json:"intent,omitempty"`
	// Platform is the framework: kubeflow, dynamo, ...
	Platform string `yaml:"platform,omitempty" json:"platform,omitempty"`
	// Nodes is the number of worker nodes; 0 leaves it open.
	Nodes int `yaml:"nodes,omitempty" json:"nodes,omitempty" min:"0"`
}

// Dimension is the name of a criterion.
type Dimension string

// Dimensions returns all dimensions in the usual order.
func Dimensions() []Dimension {
	return []Dimension{"service", "accelerator", "os", "intent", "platform", "nodes"}
}

// Get returns the original value of a dimension; empty if it is open.
func (c Criteria) Get(d Dimension) string {
	switch d {
	case "service":
		return c.Service
	case "accelerator":
		return c.Accelerator
	case "os":
		return c.OS
	case "intent":
		return c.Intent
	case "platform":
		return c.Platform
	case "nodes":
		if c.Nodes != 0 {
			return strconv.Itoa(c.Nodes)
		}
	}
	return ""
}

// Without returns c with an open dimension.
func (c Criteria) Without(d Dimension) Criteria {
	switch d {
	case "service":
		c.Service = ""
	case "accelerator":
		c.Accelerator = ""
	case "os":
		c.OS = ""
	case "intent":
		c.Intent = ""
	case "platform":
		c.Platform = ""
	case "nodes":
		c.Nodes = 0
	}
	return c
}

// Stated returns the dimensions that are not open.
func (c Criteria) Stated() []Dimension {
	var out []Dimension
	for _, d := range Dimensions() {
		if c.Get(d) != "" {
			out = append(out, d)
		}
	}
	return out
}

// Specificity counts the stated dimensions. c must be normalized.
func (c Criteria) Specificity() int {
	n := 0
	for _, s := range [...]string{c.Service, c.Accelerator, c.OS, c.Intent, c.Platform} {
		if s != "" {
			n++
		}
	}
	if c.Nodes != 0 {
		n++
	}
	return n
}

// Matches reports whether an overlay with the criteria c applies to the query q. Both must be
// normalized.
func (c Criteria) Matches(q Criteria) bool {
	return matches(c.Service, q.Service) && matches(c.Accelerator, q.Accelerator) && matches(c.OS, q.OS) &&
		matches(c.Intent, q.Intent) && matches(c.Platform, q.Platform) && (c.Nodes == 0 || c.Nodes == q.Nodes)
}

func matches(overlay, query string) bool { return overlay == "" || overlay == query }

// Contradicts returns the first dimension with different values in both; empty if they
// agree.
func (c Criteria) Contradicts(o Criteria) Dimension {
	for _, d := range Dimensions() {
		if a, b := c.Get(d), o.Get(d); a != "" && b != "" && a != b {
			return d
		}
	}
	return ""
}

// String formats the stated dimensions: "service=eks accelerator=h100", or "any".
func (c Criteria) String() string {
	var parts []string
	for _, d := range c.Stated() {
		parts = append(parts, string(d)+"="+c.Get(d))
	}
	if len(parts) == 0 {
		return Any
	}
	return strings.Join(parts, " ")
}
