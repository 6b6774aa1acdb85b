package linuxhost

import (
	"time"

	"github.com/firstlight/firstlight/internal/probe/nvidia"
)

// Host is the state of one host.
type Host struct {
	// Name is the node name (uname -n): "gpu-02" or "gpu-02.example.org".
	Name string `json:"name,omitempty"`
	// Clock and ClockAfter are the clock of the host before and after the other fields were
	// read; zero if not reported.
	Clock      time.Time `json:"clock,omitzero"`
	ClockAfter time.Time `json:"clockAfter,omitzero"`
	// MemoryKiB is MemTotal of /proc/meminfo.
	MemoryKiB *int64 `json:"memoryKiB,omitempty"`
	// HugePages is the number of reserved huge pages of the default size HugePageKiB, without
	// surplus pages.
	HugePages   *int64 `json:"hugePages,omitempty"`
	HugePageKiB *int64 `json:"hugePageKiB,omitempty"`
	// Governors is the number of policies by CPU frequency governor; empty without cpufreq.
	Governors map[string]int `json:"governors,omitempty"`
	// Adapters are the PCIe links of the devices in /sys/class/infiniband, by name.
	Adapters map[string]Link `json:"adapters,omitempty"`
	// IOMMU is the type of the IOMMU group of adapters, by name, and of GPUs, by bus ID (0000:1b:00.0): "identity",
	// "DMA", "DMA-FQ". A device without an IOMMU is not in it.
	IOMMU map[string]string `json:"iommu,omitempty"`
	// Processor is the vendor of an x86 processor as /proc/cpuinfo names it; empty for another architecture. Virtual is
	// set for a virtual machine with such a processor.
	Processor string `json:"processor,omitempty"`
	Virtual   bool   `json:"virtual,omitempty"`
	// GPUs are the rows of nvidia-smi topo -m; empty without a matrix.
	GPUs []nvidia.GPUTopology `json:"gpus,omitempty"`
}

// Link is the PCIe link of an adapter: current and maximum. A field is nil if the kernel does
// not report it, for example for a virtual function.
type Link struct {
	SpeedGTs    *float64 `json:"speedGTs,omitempty"` // GT/s a lane
	MaxSpeedGTs *float64 `json:"maxSpeedGTs,omitempty"`
	Width       *int64   `json:"width,omitempty"` // lanes
	MaxWidth    *int64   `json:"maxWidth,omitempty"`
}
