// Package scenario makes of a recipe what the scheduler can see of it: nodes, the
// pods of its components, a GPU workload that stands for its intent, and the
// negative controls. Equal cells have equal fingerprints; recipes with equal
// fingerprints form a class.
//
// Everything here is pure.
package scenario
