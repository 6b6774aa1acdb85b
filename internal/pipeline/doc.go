// Package pipeline is the canonical validation of a GPU cluster: which steps there
// are for an intent, what each needs, claims and proves, and in which order they can
// be taken on the GPUs that there are.
//
//	steps.yaml  the steps, as data
//	step        what a step is
//	load        reading them, strictly
//	prove       whether an order is possible on a number of GPUs
//	order       the order that is
//
// The planner does no I/O: what a step does is elsewhere. An order is proved, also one
// that somebody asked for, before anything is run.
package pipeline
