// Package scenario converts a recipe to the scheduler's input: nodes, the pods of its
// components, a GPU workload for its intent, and the negative controls. Equal scenarios
// have equal fingerprints; recipes with equal fingerprints form a class.
//
// Everything here is pure.
package scenario
