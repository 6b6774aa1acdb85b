// Package gpustack is gate 4: the cluster's GPU software. It reads the GPU Operator's
// ClusterPolicy and operands and the nodes' resources, and proves the gang scheduler: of a gang
// that does not fit, no pod may be placed; of one that fits, all must be.
//
// Invariants: "state: ready" alone is not sufficient; the resources of every inventory node are
// judged. The proof uses free GPUs only and deletes all its objects.
package gpustack
