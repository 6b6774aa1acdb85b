package nfd

import (
	"strconv"
	"strings"

	"github.com/firstlight/firstlight/internal/world"
)

const prefix = "feature.node.kubernetes.io/"

// PCI vendors and classes (hexadecimal).
const (
	nvidia, mellanox         = "10de", "15b3"
	displayClass, infiniband = "0302", "0207"
)

// labelsOf are the labels that a host's worker reports: of the host's own sources, with the chart's
// label fields of PCI devices, and of GPU feature discovery if it has run.
func labelsOf(state world.State, host world.Node, discovered bool) map[string]any {
	l := map[string]any{
		prefix + "cpu-model.vendor_id": host.CPUVendor(),
		prefix + "kernel-version.full": host.OS.KernelLabel(),
	}
	if !host.NoOSLabels {
		l[prefix+"system-os_release.ID"], l[prefix+"system-os_release.VERSION_ID"] = host.OS.ID, host.OS.VersionID
		major, minor, two := strings.Cut(host.OS.VersionID, ".")
		l[prefix+"system-os_release.VERSION_ID.major"] = major
		if two {
			l[prefix+"system-os_release.VERSION_ID.minor"] = minor
		}
	}
	if len(host.HCAs) > 0 {
		l[prefix+"pci-"+mellanox+".present"] = "true"
	}
	if !hasGPUs(state, host) {
		return l
	}
	l[prefix+"pci-"+nvidia+".present"] = "true"
	if discovered {
		for key, value := range GPULabels(state, host) {
			l[key] = value
		}
	}
	return l
}

// hasGPUs reports whether the worker finds GPUs among the host's PCI devices.
func hasGPUs(state world.State, host world.Node) bool {
	return !host.System && !state.ZeroGPUNodes && !host.NFDLabelsMissing
}

// GPULabels are the labels of GPU feature discovery.
func GPULabels(state world.State, host world.Node) map[string]string {
	hw := host.Hardware.GPU
	product := strings.ReplaceAll(hw.Product, " ", "-")
	if host.MIGHalfApplied {
		product += "-MIG-INVALID"
	}
	count, strategy := host.UsableGPUs(), world.MIGSingle // the chart's default
	switch host.MIG {
	case world.MIGSingle:
		product += "-MIG-" + world.MIGProfile
		count *= world.MIGDevices
	case world.MIGMixed:
		strategy = world.MIGMixed
	}
	return map[string]string{
		"nvidia.com/mig.strategy":              strategy,
		"nvidia.com/gpu.count":                 strconv.Itoa(count),
		"nvidia.com/gpu.product":               product,
		"nvidia.com/gpu.memory":                strconv.Itoa(hw.MemoryMiB),
		"nvidia.com/gpu.family":                hw.Family(),
		"nvidia.com/mig.capable":               "true",
		"nvidia.com/cuda.driver-version.full":  host.Driver,
		"nvidia.com/cuda.runtime-version.full": host.CUDA,
	}
}

// features are the raw features that rules could match.
func features(state world.State, host world.Node) map[string]any {
	devices := []any{} // not null: the definition refuses that
	device := func(class, vendor string) {
		devices = append(devices, map[string]any{"attributes": map[string]any{"class": class, "vendor": vendor}})
	}
	for range host.HCAs {
		device(infiniband, mellanox)
	}
	if hasGPUs(state, host) {
		for range host.UsableGPUs() {
			device(displayClass, nvidia)
		}
	}
	return map[string]any{
		"flags": map[string]any{},
		"attributes": map[string]any{
			"kernel.version":   map[string]any{"elements": map[string]any{"full": host.OS.Kernel}},
			"system.osrelease": map[string]any{"elements": map[string]any{"ID": host.OS.ID, "VERSION_ID": host.OS.VersionID}},
			"system.name":      map[string]any{"elements": map[string]any{"nodename": host.Name}},
		},
		"instances": map[string]any{"pci.device": map[string]any{"elements": devices}},
	}
}
