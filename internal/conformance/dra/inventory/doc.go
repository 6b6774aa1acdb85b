// Package inventory reads which accelerators a cluster offers through dynamic resource
// allocation (ResourceSlices of resource.k8s.io/v1) and which of them are free.
//
// Invariants: only devices of NVIDIA's driver are GPUs; of a pool only its highest
// generation counts, and only when all of its slices are published.
package inventory
