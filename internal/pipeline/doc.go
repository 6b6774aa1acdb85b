// Package pipeline plans the canonical validation of a GPU cluster: the steps of an intent,
// what each needs, claims and proves, and an order that is possible on the available GPUs.
//
//	steps.yaml  the steps, as data
//	step        the type of a step
//	load        strict reading of the steps
//	prove       checks whether an order is possible on a number of GPUs
//	order       derives an order
//
// The planner does no I/O. Every order, derived or requested, is proved before a step runs.
package pipeline
