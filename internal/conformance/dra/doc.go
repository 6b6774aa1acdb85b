// Package dra is the requirement dra_support: GPUs are offered and allocated through
// dynamic resource allocation, resource.k8s.io/v1.
//
// The API is served; every GPU node of the inventory has its GPUs in ResourceSlices of the
// expected driver; a claim is allocated to a pod, which runs on the device's node; at the
// same time a claim that no device matches stays unallocated, and its pod unschedulable.
//
// Invariants: a cluster that serves only a beta of the API fails, it is not skipped; slices
// of another driver do not count; a missing decision of the scheduler is not a refusal.
package dra
