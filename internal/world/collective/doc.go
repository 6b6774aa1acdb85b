// Package collective is the world's nccl-tests: a cost model of an all_reduce
// over NVLink, NVLS and the rails, and the text that all_reduce_perf and
// NCCL_DEBUG=INFO print for it.
//
// It owns what a run over given nodes would have printed and how it would have
// ended. It is a pure function of Run: the same Run writes the same bytes.
//
// It never looks at Kubernetes, at wall time, or at what anybody expects of the
// figures.
package collective
