package workload

import _ "embed"

// GPULoadScript runs DCGM's tensor load on every GPU of a container for $DURATION seconds. It needs
// bash, nvidia-smi, and the dcgmproftester of the driver's CUDA major.
//
//go:embed gpuload.sh
var GPULoadScript string
