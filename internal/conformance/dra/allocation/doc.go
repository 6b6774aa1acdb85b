// Package allocation is which GPUs claims allocate to the pods of a gang, by their UUIDs.
//
// Invariants: Judge does no I/O; a claim that was not observed is not judged as allocated.
package allocation
