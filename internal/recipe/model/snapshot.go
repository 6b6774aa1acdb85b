package model

import "github.com/firstlight/firstlight/internal/yamlstrict"

// Snapshot has measurements of a cluster. Other programs write it, with additional keys.
type Snapshot struct {
	Header       `yaml:",inline"`
	Measurements []Measurement `yaml:"measurements" json:"measurements"`
}

// Measurement is one group of measurements: K8s, GPU, OS, SystemD, NodeTopology.
type Measurement struct {
	Type     string    `yaml:"type" json:"type" need:"true"`
	Subtypes []Subtype `yaml:"subtypes,omitempty" json:"subtypes,omitempty"`
}

// Subtype holds measured values by their keys.
type Subtype struct {
	// Subtype is the subtype's name; some versions of the format call it name.
	Subtype string                     `yaml:"subtype,omitempty" json:"subtype,omitempty"`
	Name    string                     `yaml:"name,omitempty" json:"name,omitempty"`
	Data    map[string]yamlstrict.Text `yaml:"data,omitempty" json:"data,omitempty"`
}
