// Package podautoscaling is the requirement pod_autoscaling: the HPA scales pods
// that use accelerators on a metric of theirs. The metric moves, and the replicas
// follow it up and down; while it is flat nothing scales.
//
// It is package autoscale's chain without new nodes: the replicas stay on GPUs that
// are there. Beside the chain's own judges it holds that the HPA's target stayed
// what it was: it is the metric that moves.
package podautoscaling
