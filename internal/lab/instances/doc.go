// Package instances has the instance types that a lab's Karpenter can create: a few cloud instance
// types with GPUs as data (types.yaml, every figure with its source), converted to the file of
// Karpenter's KWOK provider. It does no I/O.
//
// Invariant: a NodePool can select every offering in the file. An offering that Karpenter would
// silently never select is an error: a vendor's spelling of the architecture, a missing zone or
// capacity type, a type without GPUs.
package instances
