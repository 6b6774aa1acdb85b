package site

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// The strategies of the device plugin for MIG devices.
const (
	// MIGSingle offers the devices, all of one profile, as nvidia.com/gpu.
	MIGSingle = "single"
	// MIGMixed offers the devices of each profile as a resource of its own, and whole GPUs as
	// nvidia.com/gpu.
	MIGMixed = "mixed"
)

// MIG is how the GPUs of a node are partitioned.
type MIG struct {
	// Strategy is MIGSingle or MIGMixed.
	Strategy string `yaml:"strategy" json:"strategy"`
	// Devices is the number of devices of a node by MIG profile ("1g.10gb").
	Devices map[string]int `yaml:"devices" json:"devices"`
	// WholeGPUs is the number of GPUs of a node without MIG, with MIGMixed.
	WholeGPUs int `yaml:"wholeGPUs,omitempty" json:"wholeGPUs,omitempty"`
}

// gpuResource is the device plugin's resource of whole GPUs and, with MIGSingle, of MIG devices.
const gpuResource = "nvidia.com/gpu"

// MIGResource is the prefix of the resources of MIG devices.
const MIGResource = "nvidia.com/mig-"

// Resources are what the device plugin offers on a node: the amount by resource.
func (m MIG) Resources() map[string]int {
	out := map[string]int{gpuResource: m.WholeGPUs}
	for profile, n := range m.Devices {
		if m.Strategy == MIGSingle {
			out[gpuResource] += n
			continue
		}
		out[MIGResource+strings.ReplaceAll(profile, "+", ".")] += n
	}
	return out
}

// Largest is the resource of which a node offers most, by name where several do.
func (m MIG) Largest() string {
	resources, best := m.Resources(), gpuResource
	for _, name := range slices.Sorted(maps.Keys(resources)) {
		if resources[name] > resources[best] {
			best = name
		}
	}
	return best
}

// migProfile is a profile as nvidia-smi mig -lgip prints it; its first number are compute slices.
var migProfile = regexp.MustCompile(`^([1-7])g\.[1-9][0-9]{0,2}gb(\+(me|gfx)(\.all)?)?$`)

// slicesPerGPU is the number of compute slices of a GPU that supports MIG (NVIDIA MIG user guide,
// A30 has 4).
const slicesPerGPU = 7

// mig validates the partitioning of nodes with a number of GPUs; 0: unknown.
func (v *validator) mig(m *MIG, gpus int) {
	if m == nil {
		return
	}
	v.oneOf("gpustack.mig.strategy", m.Strategy, []string{MIGSingle, MIGMixed})
	if len(m.Devices) == 0 {
		v.add("gpustack.mig.devices", "is empty: give the number of devices of a node by profile, for example {1g.10gb: 56}")
	}
	used := 0
	for _, profile := range slices.Sorted(maps.Keys(m.Devices)) {
		path := "gpustack.mig.devices." + profile
		match := migProfile.FindStringSubmatch(profile)
		if match == nil {
			v.add(path, "invalid MIG profile %q: must be one of nvidia-smi mig -lgip, for example 1g.10gb", profile)
			continue
		}
		v.positive(path, float64(m.Devices[profile]), "56")
		if g, err := strconv.Atoi(match[1]); err == nil {
			used += g * m.Devices[profile]
		}
	}
	if m.Strategy == MIGSingle && (len(m.Devices) > 1 || m.WholeGPUs > 0) {
		v.add("gpustack.mig", "strategy %s has devices of one profile, and no whole GPUs: use %s", MIGSingle, MIGMixed)
	}
	if m.WholeGPUs < 0 {
		v.add("gpustack.mig.wholeGPUs", "%d must not be negative", m.WholeGPUs)
	}
	if room := slicesPerGPU * (gpus - m.WholeGPUs); gpus > 0 && used > room {
		v.add("gpustack.mig.devices", "need %d compute slices, and %s has %d", used, fmt.Sprintf("%d GPUs with MIG", gpus-m.WholeGPUs), room)
	}
}
