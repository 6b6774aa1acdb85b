// Package instances is what a lab's Karpenter can order: a few cloud instance
// types with GPUs, as data (types.yaml, every figure with its source), and the
// file that Karpenter's KWOK provider reads, made of it. It does no I/O.
//
// Invariant: a NodePool can choose every offering in the file. What Karpenter
// would silently never choose (an architecture in the vendor's spelling, an
// offering without zone or capacity type, a type without GPUs) is an error here.
package instances
