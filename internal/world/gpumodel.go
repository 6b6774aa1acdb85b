package world

import (
	"bytes"
	_ "embed"
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

//go:embed gpus.yaml
var gpusYAML []byte

// gpuModel identifies a model of GPU.
type gpuModel struct {
	Product           string `yaml:"product"` // as nvidia-smi prints it
	Architecture      string `yaml:"architecture"`
	ComputeCapability string `yaml:"computeCapability"`
	DeviceID          string `yaml:"deviceID"` // PCI, hexadecimal
	PartNumber        string `yaml:"partNumber"`
	MemoryMiB         int    `yaml:"memoryMiB"`
	ReservedMiB       int    `yaml:"reservedMiB"`
}

// as returns the figures with the identity and the memory of another model.
func (g HardwareGPU) as(m gpuModel) HardwareGPU {
	g.Product, g.Architecture, g.ComputeCapability = m.Product, m.Architecture, m.ComputeCapability
	g.DeviceID, g.PartNumber = m.DeviceID, m.PartNumber
	g.MemoryMiB, g.ReservedMiB = m.MemoryMiB, m.ReservedMiB
	return g
}

// Family is the architecture as GPU feature discovery labels it: "hopper", "ada-lovelace".
func (g HardwareGPU) Family() string {
	return strings.ReplaceAll(strings.ToLower(g.Architecture), " ", "-")
}

// gpuModelNames returns the names of all models.
func gpuModelNames() []string {
	all, err := gpuModels()
	if err != nil {
		return nil
	}
	return slices.Sorted(maps.Keys(all))
}

func gpuModels() (map[string]gpuModel, error) {
	all := map[string]gpuModel{}
	dec := yaml.NewDecoder(bytes.NewReader(gpusYAML))
	dec.KnownFields(true)
	if err := dec.Decode(&all); err != nil {
		return nil, fmt.Errorf("decode models of GPUs: %w", err)
	}
	return all, nil
}
