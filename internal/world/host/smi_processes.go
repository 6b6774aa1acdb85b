package host

import (
	"strconv"

	"github.com/firstlight/firstlight/internal/world"
)

// idleMemoryMiB is the memory that the driver uses on a GPU without a process. A container that holds the GPU without a CUDA
// context, as a worker of Ray without a task, is not a process on it.
const idleMemoryMiB = 4

// occupied are the GPUs that a pod holds: its process is on them.
func occupied(gpus []world.GPU) []world.GPU {
	var out []world.GPU
	for _, g := range gpus {
		if g.Occupant.UID != "" {
			out = append(out, g)
		}
	}
	return out
}

// processFields are columns of nvidia-smi --query-compute-apps, which prints one row for each process and GPU,
// and none for an idle machine (nvidia-smi --help-query-compute-apps).
func processFields() map[string]field {
	const firstPID = 4021
	return map[string]field{
		"pid":          {value: func(_ *call, _ int, g world.GPU) string { return strconv.Itoa(firstPID + g.Index) }},
		"process_name": {value: func(*call, int, world.GPU) string { return "python3" }},
		"gpu_uuid":     {value: func(_ *call, _ int, g world.GPU) string { return g.UUID }},
		"used_memory":  {unit: "MiB", value: func(_ *call, _ int, g world.GPU) string { return strconv.Itoa(g.MemUsedMiB) }},
	}
}
