// Package dra is the requirement dra_support: GPUs are offered and given out
// through dynamic resource allocation, resource.k8s.io/v1.
//
// It sees that the API is served, that every GPU node of the inventory has its GPUs
// in ResourceSlices of the expected driver, that a claim is allocated to a pod, which
// runs on the device's node, and that at the same time a claim that no device meets
// stays unallocated, and its pod pending by the scheduler's word.
//
// Invariants: a cluster that serves only a beta of the API fails, and is not passed
// over; a slice of another driver counts for nothing; silence of the scheduler is no
// refusal.
package dra
