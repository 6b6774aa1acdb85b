package linuxhost

import (
	"time"

	"github.com/firstlight/firstlight/internal/probe/nvidia"
)

// Host is what one host says of itself.
type Host struct {
	// Name is its node name (uname -n): "gpu-02" or "gpu-02.example.org".
	Name string `json:"name,omitempty"`
	// Clock and ClockAfter are its time before and after all else here was read; zero
	// when it did not say.
	Clock      time.Time `json:"clock,omitzero"`
	ClockAfter time.Time `json:"clockAfter,omitzero"`
	// MemoryKiB is MemTotal of /proc/meminfo.
	MemoryKiB *int64 `json:"memoryKiB,omitempty"`
	// HugePages are the reserved ones of the default size, HugePageKiB: without the surplus
	// that comes and goes with processes.
	HugePages   *int64 `json:"hugePages,omitempty"`
	HugePageKiB *int64 `json:"hugePageKiB,omitempty"`
	// Governors are the CPU frequency governors to the number of policies that have
	// them; empty without cpufreq.
	Governors map[string]int `json:"governors,omitempty"`
	// Adapters are those of /sys/class/infiniband, by name.
	Adapters map[string]Link `json:"adapters,omitempty"`
	// GPUs are the rows of nvidia-smi topo -m; empty when there was no matrix.
	GPUs []nvidia.GPUTopology `json:"gpus,omitempty"`
}

// Link is the PCIe link of an adapter: what it runs at and what the adapter could do.
// Nil is what the kernel does not know, as for a virtual function.
type Link struct {
	SpeedGTs    *float64 `json:"speedGTs,omitempty"` // GT/s a lane
	MaxSpeedGTs *float64 `json:"maxSpeedGTs,omitempty"`
	Width       *int64   `json:"width,omitempty"` // lanes
	MaxWidth    *int64   `json:"maxWidth,omitempty"`
}
