// Package training simulates a training job: a step-time model and the output of torchtitan or
// Megatron-LM, rank by rank.
//
// It owns the output of one pod's ranks. Printed times are the model's, independent of the elapsed
// wall time.
//
// It depends neither on Kubernetes nor on expected figures.
package training
