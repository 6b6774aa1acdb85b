package nvidia

import "math"

// MIG is the partitioning of a GPU. It is nil for a GPU that cannot be partitioned.
type MIG struct {
	// Enabled is the current mode, Pending that after the next reset; nil if not reported.
	Enabled *bool `json:"enabled"`
	Pending *bool `json:"pending"`
	// Devices of the GPU, in the order of the document.
	Devices []MIGDevice `json:"devices,omitempty"`
}

// On reports whether the GPU is in MIG mode.
func (m *MIG) On() bool { return m != nil && m.Enabled != nil && *m.Enabled }

// MIGDevice is a compute instance of a GPU instance.
type MIGDevice struct {
	GPUInstance     *int64 `json:"gpuInstance"`
	ComputeInstance *int64 `json:"computeInstance"`
	MemoryMiB       *int64 `json:"memoryMiB,omitempty"`
	// SRAMUncorrectable is the count since the driver was loaded. Some drivers count the errors of a
	// partitioned GPU only here.
	SRAMUncorrectable *int64 `json:"sramUncorrectable,omitempty"`
}

type rawMIG struct {
	Current string `xml:"mig_mode>current_mig"`
	Pending string `xml:"mig_mode>pending_mig"`
	Devices []struct {
		GPUInstance     string `xml:"gpu_instance_id"`
		ComputeInstance string `xml:"compute_instance_id"`
		Memory          string `xml:"fb_memory_usage>total"`
		SRAMUnc         string `xml:"ecc_error_count>volatile_count>sram_uncorrectable"`
	} `xml:"mig_devices>mig_device"`
}

func (raw rawMIG) mig(r *smiReader) *MIG {
	m := MIG{
		Enabled: r.either("current_mig", raw.Current, "Enabled", "Disabled"),
		Pending: r.either("pending_mig", raw.Pending, "Enabled", "Disabled"),
	}
	for _, d := range raw.Devices {
		m.Devices = append(m.Devices, MIGDevice{
			GPUInstance: r.integer("gpu_instance_id", d.GPUInstance, ""), ComputeInstance: r.integer("compute_instance_id", d.ComputeInstance, ""),
			MemoryMiB:         r.integer("mig_device fb_memory_usage total", d.Memory, "MiB"),
			SRAMUncorrectable: r.integer("mig_device sram_uncorrectable", d.SRAMUnc, ""),
		})
	}
	if m.Enabled == nil && m.Pending == nil && len(m.Devices) == 0 {
		return nil
	}
	return &m
}

// MIGMemoryGB is the memory in the name of a GPU instance's profile, 10 for 1g.10gb: its share of the
// GPU's memory in eighths, rounded up, of the GPU's whole GiB. Both sizes are in MiB, the GPU's more
// than 0. Source: NVIDIA/go-nvlib, pkg/nvlib/device/mig_profile.go, getMigMemorySizeGB, by which the
// device plugin names its resources.
func MIGMemoryGB(instanceMiB, gpuMiB int64) int {
	const eighths, miBPerGiB = 8, 1024
	share := math.Ceil(float64(instanceMiB)/float64(gpuMiB)*eighths) / eighths
	return int(math.Round(share * float64((gpuMiB+miBPerGiB-1)/miBPerGiB)))
}
