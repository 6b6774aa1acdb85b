// Package gpustack is gate 4: the cluster's GPU software. It reads the GPU
// Operator's ClusterPolicy and operands, the nodes' resources, and proves the
// gang scheduler: a gang larger than what is free must bind nobody, one that
// fits must bind all.
//
// Invariants: "state: ready" alone is never believed; what is judged is what
// every inventory node offers. The proof takes free GPUs only and leaves
// nothing behind.
package gpustack
