package slo

import (
	"bytes"
	_ "embed" // slo.yaml
	"fmt"

	"github.com/prometheus/common/model"
	"go.yaml.in/yaml/v3"
)

//go:embed slo.yaml
var catalogueFile []byte

// catalogue is slo.yaml.
type catalogue struct {
	// Objective is the fraction of the time, or of the requests, that has to meet a limit.
	Objective float64   `yaml:"objective"`
	Burn      []burn    `yaml:"burn"`
	Figures   []figure  `yaml:"figures"`
	Latencies []latency `yaml:"latencies"`
}

// burn is a burn rate of the error budget that both windows must exceed.
type burn struct {
	Severity string         `yaml:"severity"`
	Factor   float64        `yaml:"factor"`
	Long     model.Duration `yaml:"long"`
	Short    model.Duration `yaml:"short"`
}

// figure is a figure of a gate's verdict, whose limit is the objective.
type figure struct {
	Name   string `yaml:"name"`
	Gate   string `yaml:"gate"`
	Figure string `yaml:"figure"`
}

// latency is a figure whose requests a server counts itself.
type latency struct {
	figure     `yaml:",inline"`
	Histograms []string `yaml:"histograms"`
	// Bounds of the histograms' buckets, in seconds, ascending.
	Bounds []float64 `yaml:"bounds"`
}

func loadCatalogue() (catalogue, error) {
	var c catalogue
	dec := yaml.NewDecoder(bytes.NewReader(catalogueFile))
	dec.KnownFields(true)
	if err := dec.Decode(&c); err != nil {
		return c, fmt.Errorf("decode the objectives: %w", err)
	}
	return c, nil
}
